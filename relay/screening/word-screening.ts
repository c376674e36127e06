import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { optionFlag, optionValue } from '#domain/options/option-registry.ts'
import {
  type ReadTexts,
  readEventTexts,
  readTextsOrWhole,
  type TextSink,
} from '#relay/canonical/answer-text-sink.ts'
import { type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { EVENT_BOUNDARY } from '../canonical/sse-scanner.ts'
import { closingQuote } from '../dialects/scan-json-tokens.ts'
import { MATCH_START, MATCHED, WordMatcher } from './word-matcher.ts'

const BOUNDARIES = new RegExp(EVENT_BOUNDARY, 'g')

/** Checks the text of one call's answer, streamed or complete, for screened words. */
export class AnswerScreen {
  private readonly matcher: WordMatcher
  private state = MATCH_START
  private stateBefore = MATCH_START

  constructor(matcher: WordMatcher) {
    this.matcher = matcher
  }

  isClean(events: Buffer, readTexts: ReadTexts): boolean {
    const pieces: string[] = []
    readEventTexts(events.toString('utf8'), readTexts, sinkInto(pieces))
    this.stateBefore = this.state
    this.state = this.matcher.feed(this.state, pieces.join(''))
    return this.state !== MATCHED
  }

  /**
   * Splits the events for which `isClean` has just returned false. The first part has the events
   * before the one that completes the word, and the second part has this event and all later ones.
   */
  splitBeforeWord(events: Buffer, readTexts: ReadTexts): readonly [Buffer, Buffer] {
    this.state = this.stateBefore
    let start = 0
    // Latin-1 keeps the offsets of the bytes.
    for (const { index, 0: boundary } of events.toString('latin1').matchAll(BOUNDARIES)) {
      const end = index + boundary.length
      if (!this.isClean(events.subarray(start, end), readTexts)) break
      start = end
    }
    return [events.subarray(0, start), events.subarray(start)]
  }

  /** Checks the next piece of the answer's text. */
  isCleanText(piece: string): boolean {
    this.state = this.matcher.feed(this.state, piece)
    return this.state !== MATCHED
  }

  isCleanAnswer(answer: Buffer, readTexts: ReadTexts): boolean {
    const texts: string[] = []
    readTextsOrWhole(answer.toString('utf8'), readTexts, sinkInto(texts))
    return this.matcher.feed(MATCH_START, texts.join('\n')) !== MATCHED
  }

  /**
   * Like `isCleanAnswer`, for an answer as long as a result of a batch may be. The event loop does
   * other work while the texts are matched.
   */
  async isCleanLongAnswer(answer: string, readTexts: ReadTexts): Promise<boolean> {
    const texts: string[] = []
    readTextsOrWhole(answer, readTexts, sinkInto(texts))
    return !(await matches(this.matcher, texts.join(SEPARATOR)))
  }

  /**
   * Checks all strings in JSON that has too many values to be parsed, or in its beginning. These
   * include the names of members.
   */
  async hasCleanStrings(json: Buffer): Promise<boolean> {
    for (const texts of stringsIn(json)) {
      if (await matches(this.matcher, texts)) return false
      await yieldToEventLoop()
    }
    return true
  }

  /** Checks all texts in a JSON value, which has no format with texts in known places. */
  async isCleanValue(value: unknown): Promise<boolean> {
    return !(await containsWord(this.matcher, value))
  }
}

const QUOTE = 34

/** Yields the strings in JSON, separated and joined to texts of about `PIECE` characters. */
function* stringsIn(json: Buffer): Generator<string> {
  let texts: string[] = []
  let length = 0
  for (let at = json.indexOf(QUOTE); at >= 0; ) {
    const end = closingQuote(json, at)
    const text = decodedString(json.toString('utf8', at + 1, end < 0 ? json.length : end))
    texts.push(text)
    length += text.length + OVERHEAD
    if (length >= PIECE) {
      yield texts.join(SEPARATOR)
      texts = []
      length = 0
    }
    at = end < 0 ? end : json.indexOf(QUOTE, end + 1)
  }
  yield texts.join(SEPARATOR)
}

/** Returns the text of a JSON string without its quotes. An invalid string is returned as it is. */
function decodedString(raw: string): string {
  if (!raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    return raw
  }
}

const sinkInto = (texts: string[]): TextSink => ({
  text: (_choice, _place, piece) => texts.push(piece),
  uncountedText: (piece) => texts.push(piece),
  data: () => {},
})

/** Returns the screen for a call's answer, or null if answers are not screened. */
export const answerScreen = (
  { matcher, isAnswerStopped, exemptGroup }: Screening,
  group: string,
): AnswerScreen | null =>
  matcher === null || !isAnswerStopped || group === exemptGroup ? null : new AnswerScreen(matcher)

/** The settings of the check for screened words. */
export type Screening = {
  /** The matcher of the site's words, or null when there are no words to find. */
  readonly matcher: WordMatcher | null
  readonly isPromptChecked: boolean
  readonly isAnswerStopped: boolean
  /** The group whose calls are not screened, or null if no group is exempt. */
  readonly exemptGroup: string | null
}

/**
 * Returns a function that reads the screening options. Building a matcher is slow, so the function
 * builds one only when the word list has changed.
 */
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

/** Builds a matcher from a list with one word per line. Returns null when the list is empty. */
function matcherOf(text: string): WordMatcher | null {
  const words = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return words.length === 0 ? null : new WordMatcher(words)
}

/** The number of characters to match before the event loop may do other work. */
const PIECE = 256 * 1024
/** The time to read a short string, as a number of characters that are matched in this time. */
const OVERHEAD = 8
/** The maximum length of a member's name in an error. */
const NAME_LENGTH_MAX = 64
/** The separator between two texts of a request, which prevents matches across texts. */
const SEPARATOR = '\n'

/**
 * Searches the texts of a request for a screened word. Resolves to the error for the caller if a
 * text contains one, and to null otherwise. The error does not repeat the word. The error names
 * `param`, or by default the member that contains the word. Member names are not screened, and data
 * URLs and base64 data beside a media type only if they contain a text. Returns null, without a
 * promise, if requests are not screened.
 */
export function screenPrompt(
  { matcher, isPromptChecked, exemptGroup }: Screening,
  group: string,
  body: Buffer,
  param?: string,
): Promise<RelayError | null> | null {
  if (matcher === null || !isPromptChecked || group === exemptGroup) return null
  return search(matcher, body, param)
}

async function search(
  matcher: WordMatcher,
  body: Buffer,
  param: string | undefined,
): Promise<RelayError | null> {
  const request: unknown = JSON.parse(body.toString('utf8'))
  if (!(await containsWord(matcher, request))) return null
  const member = param ?? (await memberWithWord(matcher, objectOrEmpty(request)))
  return relayError('sensitive_prompt', { param: member })
}

async function memberWithWord(matcher: WordMatcher, request: JsonObject): Promise<string> {
  for (const [name, value] of Object.entries(request)) {
    if (await containsWord(matcher, value)) return name.slice(0, NAME_LENGTH_MAX)
  }
  return 'messages'
}

/** Reports whether a JSON value has a text with a screened word. */
function containsWord(matcher: WordMatcher, value: unknown): Promise<boolean> {
  const texts: string[] = []
  collect(value, texts)
  return matches(matcher, texts.join(SEPARATOR))
}

async function matches(matcher: WordMatcher, text: string): Promise<boolean> {
  let state = MATCH_START
  for (let from = 0; from < text.length; from += PIECE) {
    if (from > 0) await yieldToEventLoop()
    state = matcher.feed(state, text.slice(from, from + PIECE))
    if (state === MATCHED) return true
  }
  return false
}

/**
 * Matches a base64 data URL, such as an image or a sound. A data URL is not screened unless it
 * contains a text.
 */
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[\w.+-]+){0,4};base64,([\w+/=-]*)$/i

const BASE64 = /^[\w+/=-]*$/
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(?:\s*;.*)?$/
const TEXT_TYPE = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript|x-javascript)\b)/i

function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string') {
    const [, type, data] = DATA_URL.exec(value) ?? []
    if (type === undefined || data === undefined) texts.push(value)
    else collectData(type, data, texts)
  } else if (typeof value === 'object' && value !== null) {
    const type = typeOfData(value as JsonObject)
    for (const [name, member] of Object.entries(value)) {
      const isData = type !== null && name === 'data' && typeof member === 'string'
      if (isData && BASE64.test(member)) collectData(type, member, texts)
      else collect(member, texts)
    }
  }
}

/** Adds the text of a base64 text file, which the model reads. Other base64 data has no text. */
function collectData(type: string, data: string, texts: string[]): void {
  if (TEXT_TYPE.test(type)) texts.push(Buffer.from(data, 'base64').toString('utf8'))
}

/**
 * Returns the media type of the base64 data in the member `data` of an object. Returns null if the
 * object has no such data. The plain text of a document in Anthropic's format has a media type as
 * well, but its `type` is `text` and not `base64`.
 */
function typeOfData(value: JsonObject): string | null {
  const { mimeType, mime_type, media_type, type } = value
  const named = type === 'base64' ? (media_type ?? mimeType ?? mime_type) : (mimeType ?? mime_type)
  return typeof named === 'string' && MEDIA_TYPE.test(named) ? named : null
}
