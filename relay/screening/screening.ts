import { optionFlag, optionValue } from '#domain/options/registry.ts'
import { WordMatcher } from './word-matcher.ts'

/** What the site does about words it does not let through. */
export type Screening = {
  /** null: nothing is looked for. */
  readonly matcher: WordMatcher | null
  readonly isPromptChecked: boolean
  readonly isAnswerStopped: boolean
  /** Calls of this group are not looked at. */
  readonly exemptGroup: string | null
}

/** Remembers the matcher of the last list: making it takes longer than reading the options. */
export function screeningReader(): (values: ReadonlyMap<string, string>) => Screening {
  let words = ''
  let matcher: WordMatcher | null = null
  return (values) => {
    const text = optionValue(values, 'SensitiveWords')
    if (text !== words) {
      words = text
      matcher = matcherOf(text)
    }
    const isOn = optionFlag(values, 'CheckSensitiveEnabled')
    return {
      matcher: isOn ? matcher : null,
      isPromptChecked: optionFlag(values, 'CheckSensitiveOnPromptEnabled'),
      isAnswerStopped: optionFlag(values, 'StopOnSensitiveEnabled'),
      exemptGroup: optionFlag(values, 'global.safe_check_exempt_enabled')
        ? optionValue(values, 'global.safe_check_exempt_group')
        : null,
    }
  }
}

/** One word a line; null where there is none. */
function matcherOf(text: string): WordMatcher | null {
  const words = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return words.length === 0 ? null : new WordMatcher(words)
}
