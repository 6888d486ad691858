"""Time against error and against size: every method with settings from rough to fine."""
