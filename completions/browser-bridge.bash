_browser__bridge() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="browser__bridge"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        browser__bridge)
            opts="-h -V --headless --headed --browser --user-data --attach --attach-header --viewport --touch --dark --locale --proxy --download-dir --upload-root --storage-state --save-media --route --har --allow-origin --fence --allow-file --allow-evaluate --settle --pause --timeout --deadline --restart --max-line --max-depth --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --browser)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user-data)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --attach)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --attach-header)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --viewport)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --locale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --download-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --upload-root)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --storage-state)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --save-media)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --route)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --har)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-origin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fence)
                    COMPREPLY=($(compgen -W "documents all" -- "${cur}"))
                    return 0
                    ;;
                --allow-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --settle)
                    COMPREPLY=($(compgen -W "none dom network fixed" -- "${cur}"))
                    return 0
                    ;;
                --pause)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --deadline)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --restart)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-line)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _browser__bridge -o nosort -o bashdefault -o default browser-bridge
else
    complete -F _browser__bridge -o bashdefault -o default browser-bridge
fi
