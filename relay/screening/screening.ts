import { setImmediate as turn } from 'node:timers/promises'
import { optionFlag, optionValue } from '#domain/options/registry.ts'
import { eachWord, eachWordOfEvents, type WordSink } from '../canonical/answer-words.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { MATCH_START, MATCHED, WordMatcher } from './word-matcher.ts'

/** Looks through one call's answer as it comes. */
export class AnswerScreen {
  private readonly matcher: WordMatcher
  private state = MATCH_START

  constructor(matcher: WordMatcher) {
    this.matcher = matcher
  }

  /** False from the event on that completes a word. */
  isClean(events: Buffer): boolean {
    const pieces: string[] = []
    eachWordOfEvents(events.toString('utf8'), sinkInto(pieces))
    this.state = this.matcher.feed(this.state, pieces.join(''))
    return this.state !== MATCHED
  }

  isCleanAnswer(answer: Buffer): boolean {
    const texts: string[] = []
    eachWord(answer.toString('utf8'), sinkInto(texts))
    return this.matcher.feed(MATCH_START, texts.join('\n')) !== MATCHED
  }
}

const sinkInto = (texts: string[]): WordSink => ({
  words: (_choice, _place, piece) => texts.push(piece),
  data: () => {},
})

/** null: nobody looks, and nothing is spent on it. */
export const answerScreen = (
  { matcher, isAnswerStopped, exemptGroup }: Screening,
  group: string,
): AnswerScreen | null =>
  matcher === null || !isAnswerStopped || group === exemptGroup ? null : new AnswerScreen(matcher)

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

/** Characters looked at in one go: the loop must not stand still for a long text. */
const PIECE = 256 * 1024
/** Between two texts of a request, so that no word is found across them. */
const BREAK = '\n'

/**
 * Refuses a request with a word in it that is not let through: in any text that it gives, keys and
 * data addresses aside. The words themselves are not repeated to the caller. null at once, with
 * nothing to wait for, where nobody looks.
 */
export function screenPrompt(
  { matcher, isPromptChecked, exemptGroup }: Screening,
  group: string,
  body: Buffer,
  param = 'messages',
): Promise<RelayError | null> | null {
  if (matcher === null || !isPromptChecked || group === exemptGroup) return null
  return look(matcher, body, param)
}

async function look(matcher: WordMatcher, body: Buffer, param: string): Promise<RelayError | null> {
  const texts: string[] = []
  gather(JSON.parse(body.toString('utf8')), texts)
  const isFound = await isIn(matcher, texts.join(BREAK))
  return isFound ? relayError('sensitive_prompt', { param }) : null
}

async function isIn(matcher: WordMatcher, text: string): Promise<boolean> {
  let state = MATCH_START
  for (let from = 0; from < text.length; from += PIECE) {
    if (from > 0) await turn()
    state = matcher.feed(state, text.slice(from, from + PIECE))
    if (state === MATCHED) return true
  }
  return false
}

/** Bytes of an image or a sound; anything else that begins alike is text. */
const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+(;[\w.+-]+=[\w.+-]+){0,4};base64,[\w+/=-]*$/i

function gather(value: unknown, texts: string[]): void {
  if (typeof value === 'string') {
    if (!DATA_URL.test(value)) texts.push(value)
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) gather(member, texts)
  }
}
