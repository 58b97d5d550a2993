import AlertQueue
import Glibc
import Linux

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
    /// description; or a tab, the kind of words that the shell finds by itself, a tab and the
    /// beginning of the word, which is not a part of them.
    static func text(_ offer: Offer) -> String {
        switch offer {
        case .files(let prefix): "\tfiles\t\(prefix)\n"
        case .programs(let prefix): "\tprograms\t\(prefix)\n"
        case .candidates(let candidates):
            candidates.map { "\($0.text)\t\($0.about)\n" }.joined()
        }
    }

    /// A word of the line as the command would get it. bash passes all words as they were typed,
    /// and fish the one that is being typed.
    func argument(_ typed: String, isLast: Bool) -> String {
        var word = self == .bash || self == .fish && isLast ? Self.unquoted(typed) : typed
        if word.hasPrefix("~/"), let home = LinuxProcess.environment("HOME") ?? UserAccounts.home {
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

    // bash also breaks words at `=` and `:` unless they are quoted. Their parts are joined for the
    // command, and the text before the last break, or the opening quote, is not replaced.
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
            local current=${words[-1]} last=${COMP_WORDS[COMP_CWORD]} line offer=()
            [[ $last == [=:]* ]] && last=''
            local kept=${current%"$last"} value=${last#[\'\"]} prefix
            COMPREPLY=()
            mapfile -t offer < <(alertq completions bash -- "${words[@]}" 2>/dev/null)
            prefix=${offer[0]-}
            prefix=${prefix#$'\t'*$'\t'}
            prefix=${prefix#"$kept"}
            case ${offer[0]-} in
                $'\tfiles\t'*)
                    compopt -o filenames
                    mapfile -t COMPREPLY < <(compgen -P "$prefix" -f -- "${value#"$prefix"}") ;;
                $'\tprograms\t'*)
                    mapfile -t COMPREPLY < <(compgen -P "$prefix" -c -- "${value#"$prefix"}") ;;
                *)
                    for line in "${offer[@]}"; do
                        line=${line%%$'\t'*}
                        line=${line#"$kept"}
                        if [[ $last != [\'\"]* ]]; then
                            printf -v line '%q' "$line"
                        elif [[ $line == *[\'\"\\\$\`!]* ]]; then
                            # bash would insert it as it is, and might run a part of it.
                            continue
                        fi
                        # A program follows, or a value.
                        [[ $line == *[:=] ]] && compopt -o nospace
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
            local -a offer texts shown suffix
            local line prefix
            words[CURRENT]=$PREFIX
            offer=("${(@f)$(alertq completions zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
            prefix=${offer[1]#$'\t'*$'\t'}
            case $offer[1] in
                ($'\tfiles\t'*) compset -P "${(b)prefix}"; _files; return ;;
                ($'\tprograms\t'*)
                    compset -P "${(b)prefix}"
                    if [[ $PREFIX == */* ]]; then _files -g '*(-*)'; else _command_names -e; fi
                    return ;;
            esac
            for line in $offer; do
                texts+=("${line%%$'\t'*}")
                if [[ $line == *$'\t'?* ]]; then
                    shown+=("${line%%$'\t'*}  -- ${line#*$'\t'}")
                else
                    shown+=("${line%%$'\t'*}")
                fi
            done
            # A program follows, or a value.
            [[ $#texts -eq 1 && $texts[1] == *[:=] ]] && suffix=(-S '')
            compadd "${suffix[@]}" -l -d shown -a texts
        }
        if [[ $funcstack[1] == _alertq ]]; then _alertq "$@"; else compdef _alertq alertq; fi

        """#

    // fish completes files itself only if no function offers them: with `~`, quotes and all.
    private static let fishScript = #"""
        # Completions of alertq for fish, as ~/.config/fish/completions/alertq.fish
        function __alertq_offer
            set -l words (commandline -opc)
            set -l current (commandline -ct)
            alertq completions fish -- $words[2..-1] "$current" 2>/dev/null
        end
        function __alertq_words
            set -l offer (__alertq_offer)
            switch "$offer[1]"
                case \tfiles\t'*'
                case \tprograms\t'*'
                    set -l prefix (string replace -r '^\tprograms\t' '' -- "$offer[1]")
                    set -l current (commandline -ct)
                    set -l program (string replace -- "$prefix" '' "$current")
                    for line in (complete -C "$program")
                        printf '%s\n' "$prefix$line"
                    end
                case '*'
                    printf '%s\n' $offer
            end
        end
        complete -c alertq -f -a '(__alertq_words)'
        complete -c alertq -F -n 'string match -q \tfiles\t"*" -- (__alertq_offer)[1]'

        """#
}

extension Argument where Value == Shell {
    static var shell: Argument {
        word("SHELL", among: Shell.allCases.map { ($0.rawValue, $0) })
    }
}
