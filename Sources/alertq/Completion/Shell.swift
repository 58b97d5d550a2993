import Glibc

/// A shell whose completions are known.
///
/// Each script asks the command itself what to offer, so that it is never out of date.
enum Shell: String, Sendable, CaseIterable {
    case bash, zsh, fish

    /// The script that the shell reads to complete `alertq`.
    var script: String {
        switch self {
        case .bash: Self.bashScript
        case .zsh: Self.zshScript
        case .fish: Self.fishScript
        }
    }

    /// An offer as the scripts read it: for each candidate a line with the word, a tab and its
    /// description; or a tab and the kind of words that the shell finds by itself.
    static func text(_ offer: Offer) -> String {
        switch offer {
        case .files: "\tfiles\n"
        case .programs: "\tprograms\n"
        case .candidates(let candidates):
            candidates.map { "\($0.text)\t\($0.about)\n" }.joined()
        }
    }

    /// A word of the line as the command would get it. bash passes all words as they were typed,
    /// and fish the one that is being typed.
    func argument(_ typed: String, isLast: Bool) -> String {
        var word = self == .bash || self == .fish && isLast ? Self.unquoted(typed) : typed
        if word.hasPrefix("~/"), let home = getenv("HOME").map({ String(cString: $0) }) {
            word.replaceSubrange(..<word.index(after: word.startIndex), with: home)
        }
        return word
    }

    /// A word without its quotes and backslashes; the last quote may still be open. Expansions stay
    /// as they are: nothing is run to complete a line.
    private static func unquoted(_ typed: String) -> String {
        var word = ""
        var quote: Character?
        var rest = typed[...]
        while let character = rest.popFirst() {
            switch (character, quote) {
            case ("\\", nil), ("\\", "\""): word += rest.popFirst().map(String.init) ?? ""
            case ("'", nil), ("\"", nil): quote = character
            case (quote, _): quote = nil
            default: word.append(character)
            }
        }
        return word
    }

    // bash also breaks words at `=` and `:`. Their parts are joined for the command, and the text
    // before the last break is not replaced.
    private static let bashScript = #"""
        # Completions of alertq for bash; in ~/.bashrc: source <(alertq completions bash)
        _alertq() {
            local word joined='' words=() i
            for ((i = 1; i <= COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                if [[ $word == [=:]* || $joined == *[=:] ]] && ((${#words[@]})); then
                    joined+=$word
                    words[-1]=$joined
                else
                    joined=$word
                    words+=("$word")
                fi
            done
            ((${#words[@]})) || words=('')
            local current=${words[-1]} line offer=()
            local kept=${current%"${current##*[=:]}"} value=${current##*[=:]}
            COMPREPLY=()
            mapfile -t offer < <(alertq completions bash -- "${words[@]}" 2>/dev/null)
            case ${offer[0]-} in
                $'\tfiles')
                    compopt -o filenames
                    mapfile -t COMPREPLY < <(compgen -f -- "$value") ;;
                $'\tprograms') mapfile -t COMPREPLY < <(compgen -c -- "$value") ;;
                *)
                    for line in "${offer[@]}"; do
                        line=${line%%$'\t'*}
                        line=${line#"$kept"}
                        if [[ $current != [\'\"]* ]]; then
                            printf -v line '%q' "$line"
                        elif [[ $line == *[\'\"\\\$\`!]* ]]; then
                            # bash would insert it as it is, and might run a part of it.
                            continue
                        fi
                        COMPREPLY+=("$line")
                    done ;;
            esac
        }
        complete -F _alertq alertq

        """#

    private static let zshScript = #"""
        #compdef alertq
        # Completions of alertq for zsh; in ~/.zshrc: source <(alertq completions zsh)
        _alertq() {
            local -a offer texts shown
            local line
            words[CURRENT]=$PREFIX
            offer=("${(@f)$(alertq completions zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
            case $offer[1] in
                ($'\tfiles') compset -P '--*='; _files; return ;;
                ($'\tprograms') compset -P '--*='; _command_names -e; return ;;
            esac
            for line in $offer; do
                texts+=("${line%%$'\t'*}")
                if [[ $line == *$'\t'?* ]]; then
                    shown+=("${line%%$'\t'*}  -- ${line#*$'\t'}")
                else
                    shown+=("${line%%$'\t'*}")
                fi
            done
            compadd -l -d shown -a texts
        }
        if [[ $funcstack[1] == _alertq ]]; then _alertq "$@"; else compdef _alertq alertq; fi

        """#

    private static let fishScript = #"""
        # Completions of alertq for fish, as ~/.config/fish/completions/alertq.fish
        function __alertq_offer
            set -l words (commandline -opc)
            set -l current (commandline -ct)
            set -l offer (alertq completions fish -- $words[2..-1] "$current" 2>/dev/null)
            switch "$offer[1]"
                case \tfiles
                    set -l prefix (string match -r '^--[^=]*=' -- "$current")
                    for path in (__fish_complete_path (string replace -- "$prefix" '' "$current"))
                        printf '%s\n' "$prefix$path"
                    end
                case \tprograms
                    __fish_complete_command
                case '*'
                    printf '%s\n' $offer
            end
        end
        complete -c alertq -f -a '(__alertq_offer)'

        """#
}

extension Argument where Value == Shell {
    static var shell: Argument {
        word("SHELL", among: Shell.allCases.map { ($0.rawValue, $0) })
    }
}
