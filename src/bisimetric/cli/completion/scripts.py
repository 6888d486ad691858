"""The scripts that shells run: they ask `bisimetric --complete` and add files themselves.

The answer's first line is words, files or folders; then a line for every word: the word, a tab, what it is. Nothing of
it is evaluated by the shell.
"""

from __future__ import annotations

# bash splits words at : and =, and replaces what stands behind the last of them; `before` is the rest of the word.
BASH = r"""# Completion of bisimetric in bash; `bisimetric --install-completion bash` wrote it.
_bisimetric_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" current="${COMP_WORDS[COMP_CWORD]}" kind="" word rest
    case "$current" in ':' | '=') current="" ;; esac
    local token="${line##*[[:space:]]}"
    local before="${token%"$current"}"
    COMPREPLY=()
    {
        IFS= read -r kind
        while IFS=$'\t' read -r word rest; do
            COMPREPLY+=("${word#"$before"}")
        done
    } < <("${COMP_WORDS[0]/#\~/$HOME}" --complete bash "$line" 2>/dev/null)
    local files=()
    case "$kind" in
        files) while IFS= read -r word; do files+=("$word"); done < <(compgen -f -- "$current") ;;
        folders) while IFS= read -r word; do files+=("$word"); done < <(compgen -d -- "$current") ;;
    esac
    if [ "${#files[@]}" -gt 0 ]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY+=("${files[@]}")
    fi
    if [ "${#COMPREPLY[@]}" -eq 1 ]; then
        case "${COMPREPLY[0]}" in *[:=]) compopt -o nospace 2>/dev/null ;; esac
    fi
}
complete -F _bisimetric_completion bisimetric
"""

ZSH = r"""#compdef bisimetric
# Completion of bisimetric in zsh; `bisimetric --install-completion zsh` wrote it.
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
_bisimetric_completion() {
    local -a lines whole open
    local line word entry
    lines=("${(@f)$(${(Q)words[1]} --complete zsh "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    [[ $PREFIX == --*=* ]] && compset -P '*='
    for line in "${(@)lines[2,-1]}"; do
        [[ -n $line ]] || continue
        word="${line%%$'\t'*}"
        entry="${word//:/\\:}"
        [[ $line == *$'\t'?* ]] && entry+=":${line#*$'\t'}"
        if [[ $word == *[:=] ]]; then open+=("$entry"); else whole+=("$entry"); fi
    done
    local -i found=1
    (( $#whole )) && _describe -t words bisimetric whole && found=0
    (( $#open )) && _describe -t words bisimetric open -S '' && found=0
    case $lines[1] in
        files) _files && found=0 ;;
        folders) _files -/ && found=0 ;;
    esac
    return found
}
compdef _bisimetric_completion bisimetric
"""

FISH = r"""# Completion of bisimetric in fish; `bisimetric --install-completion fish` wrote it.
function __bisimetric_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command $words[1] --complete fish $words "$current" 2>/dev/null)
    if test (count $lines) -gt 1
        printf '%s\n' $lines[2..-1]
    end
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case folders
            __fish_complete_directories "$current"
    end
end
complete -c bisimetric -f -a '(__bisimetric_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
