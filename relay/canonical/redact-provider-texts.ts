/** The length in characters to which a redacted text is cut. */
const TEXT_MAX = 2_000
/**
 * The number of characters of a provider's message that are searched for keys and addresses. The
 * rest of the message is dropped.
 */
const KEY_SEARCH_LENGTH_MAX = 2 * TEXT_MAX
/**
 * The number of characters of a provider's message that are searched for confidential texts. The
 * search is limited, because a channel may have many confidential texts.
 */
const CONFIDENTIAL_SEARCH_LENGTH_MAX = 8 * TEXT_MAX

const KEYS = [
  /\b(?:sk|ak|pk|rk|sess|key|gsk|xai|sat|hf|fw|tgp|nvapi|pplx|ghp|acct)[-_][\w-]{6,}[\w*.-]*/,
  /\bAIza[\w-]{10,}|\bya29\.[\w.-]+|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bbce-v3\/\S+/,
  /\beyJ[\w-]{8,}\.[\w.-]+|\b(?:Bearer|Basic)\s+\S+/,
  /\b(?:api|access|secret)[-_ ]?(?:key|token)(?: provided)?["']?\s*[:=]\s*["']?[^\s"',;]+/,
  // A key that the provider has masked itself, such as `abcd****wxyz`.
  /(?<![\w-])[\w-]*\*{3,}[\w*-]*/,
]
const ACCOUNTS = [
  /\borg-[\w-]{4,}|\bproj[-_][\w-]{4,}|\breq[-_]\w{8,}|\barn:\S+/,
  /\bprojects\/[^\s"',;]+|\bproject(?:[-_ ]?(?:number|id))?["']?[\s:='"`]+(?=[\w-]*\d)[\w-]+/,
  /(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/,
  /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b|\b[\da-f]{32,}\b/,
  // Account numbers have at least nine digits. Shorter numbers stay, because token counts have at
  // most eight digits.
  /(?<![\w.])\d{9,}\b/,
]
/**
 * Matches a long text with digits and with letters of both cases, which is probably a key. The ids
 * of tool calls and answers are excluded, because error messages use these ids to name the faulty
 * part of a request.
 */
const PROBABLE_KEY =
  /(?<![\w-])(?!(?:srvtoolu|toolu|call|resp|msg|fc|rs|gen)[-_])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{32,}/g
const ADDRESSES = [
  /\b[a-z][a-z\d+.-]{1,20}:\/\/\S+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\blocalhost(?::\d+)?\b/,
  /(?<![\w.-])(?:[a-z0-9-]+\.)+(?:[a-z]{2,}:\d+|(?:com|net|org|io|ai|cn|dev|cloud|xyz|eu)\b)/,
  /(?<![\w.-])(?:[a-z0-9-]+\.)+(?:internal|local|lan|corp)\b/,
  /(?<![\w:.])(?:[\da-f]{1,4}:){7}[\da-f]{1,4}\b/,
  /(?<![\w:.])[\da-f]{1,4}(?::[\da-f]{1,4}){0,6}::(?:[\da-f]{1,4}(?::[\da-f]{1,4}){0,6})?(?!\w)/,
  /(?<![\w:.])::[\da-f]{1,4}(?::[\da-f]{1,4}){0,6}(?!\w)/,
]

const anyOf = (patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), 'gi')
const LOOKS_LIKE_KEY = anyOf(KEYS)
const LOOKS_PRIVATE = anyOf([...KEYS, ...ACCOUNTS, ...ADDRESSES])

/**
 * The minimum length of a confidential text that is redacted. Shorter texts would also match
 * ordinary words.
 */
const CONFIDENTIAL_LENGTH_MIN = 5

/**
 * Returns a pattern that matches the confidential texts and their URL-encoded forms in any letter
 * case. Longer texts take precedence. Texts shorter than `CONFIDENTIAL_LENGTH_MIN` are left out.
 * Returns null if no text is left.
 */
function patternOf(confidential: readonly string[]): RegExp | null {
  const telling = confidential.filter(({ length }) => length >= CONFIDENTIAL_LENGTH_MIN)
  if (telling.length === 0) return null
  const spellings = new Set(telling.flatMap((text) => [text, encodeURIComponent(text)]))
  const escaped = [...spellings]
    .toSorted((a, b) => b.length - a.length)
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  return new RegExp(escaped.join('|'), 'gi')
}

/**
 * Removes keys, the ids of accounts, projects and requests, addresses (of servers and of mail) and
 * the texts in `confidential` from a provider's message. The message is shortened only afterwards,
 * because a secret that is cut off would not be recognized. A word that crosses the limit of a
 * search is removed completely.
 */
export const redact = (text: string, confidential: readonly string[]): string =>
  redactBy(text, patternOf(confidential))

function redactBy(text: string, pattern: RegExp | null): string {
  const start = wholeWordsOf(text, CONFIDENTIAL_SEARCH_LENGTH_MAX)
  const unnamed = pattern === null ? start : start.replace(pattern, '***')
  return wholeWordsOf(unnamed, KEY_SEARCH_LENGTH_MAX)
    .replace(LOOKS_PRIVATE, '***')
    .replace(PROBABLE_KEY, '***')
    .slice(0, TEXT_MAX)
    .toWellFormed()
}

function wholeWordsOf(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  let end = lengthMax
  while (end > 0 && /\S/.test(text.charAt(end - 1))) end -= 1
  return `${text.slice(0, end)}***`
}

/**
 * Reports whether an identifier from a provider may be logged. The identifier must consist of 1 to
 * 128 letters, digits and a few signs, and must contain neither a confidential text nor a key.
 */
export const isLoggableId = (id: string, confidential: readonly string[]): boolean =>
  /^[\w.:=/+-]{1,128}$/.test(id) &&
  id.search(LOOKS_LIKE_KEY) < 0 &&
  id.search(patternOf(confidential) ?? /^$/) < 0

/**
 * Reports whether all these texts from a provider may be recorded as evidence. The conditions are
 * those of `isLoggableId`, except that `@` is allowed, and that the URL-encoded forms of
 * confidential texts are not recognized. This saves the time to compile a pattern.
 */
export function areEvidenceTexts(
  texts: readonly string[],
  confidential: readonly string[],
): boolean {
  if (!texts.every((text) => /^[\w.:@=/+-]{1,128}$/.test(text))) return false
  const all = texts.join(' ')
  if (all.search(LOOKS_LIKE_KEY) >= 0) return false
  const folded = all.toLowerCase()
  return !confidential.some(
    (one) => one.length >= CONFIDENTIAL_LENGTH_MIN && folded.includes(one.toLowerCase()),
  )
}

const DEPTH_MAX = 8
const VALUES_MAX = 200
const CHARACTERS_MAX = 8_000

/**
 * Matches the names of members with a key, or with the operator's account or address at the
 * provider, and OpenRouter's `model_slug`: callers do not learn to which model a channel maps
 * theirs. The names are in lower case and without separators.
 */
const PRIVATE_NAME =
  /(?:apikey|secret|password|authorization|credentials?|accesstoken|account|accountid|organi[sz]ation|organi[sz]ationid|orgid|project|projectid|projectnumber|consumer|userid|email|tenantid|subscriptionid|deployment|endpoint|hostname|baseurl|ipaddress|traceid|modelslug)$|^(?:user|url|uri|host|ip)$/
const NAME = /^[@\w.$-]{1,64}$/
/**
 * Matches the types of the details in Google's errors. These types are not redacted, because
 * clients compare them with known types.
 */
const GOOGLE_TYPE = /^type\.googleapis\.com\/[\w.]{1,96}$/

/**
 * Returns JSON data from a provider with its texts redacted. The size of the result is limited:
 * objects and lists that are nested too deeply become null, long texts are cut, and surplus members
 * are left out. Members with unusual or confidential names are left out too. The values of members
 * that `PRIVATE_NAME` matches are masked. The provider's request id is replaced by `call`, the
 * gateway's id of the call.
 */
export function redactMembers(
  data: object,
  confidential: readonly string[],
  call: string,
): Record<string, unknown> {
  const pattern = patternOf(confidential)
  let values = VALUES_MAX
  let characters = CHARACTERS_MAX
  const textOf = (value: string): string => {
    if (characters === 0) return ''
    const text = GOOGLE_TYPE.test(value) ? value : redactBy(value, pattern).slice(0, characters)
    characters = Math.max(0, characters - Math.max(value.length, text.length))
    return text
  }
  const memberOf = (name: string, value: unknown, depth: number): unknown => {
    const folded = name.toLowerCase().replace(/[^a-z0-9]/g, '')
    if (value === null) return null
    if (folded === 'requestid') return call
    return PRIVATE_NAME.test(folded) ? '***' : redacted(value, depth)
  }
  const membersOf = (object: object, depth: number): Record<string, unknown> => {
    const kept: [string, unknown][] = []
    for (const [name, value] of Object.entries(object)) {
      if (values <= 0) break
      values -= 1
      if (!NAME.test(name) || redactBy(name, pattern) !== name) continue
      kept.push([name, memberOf(name, value, depth)])
    }
    return Object.fromEntries(kept)
  }
  const redacted = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return textOf(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth >= DEPTH_MAX) return null
    if (!Array.isArray(value)) return membersOf(value, depth + 1)
    const elements = value.slice(0, Math.max(0, values))
    values -= elements.length
    return elements.map((element) => redacted(element, depth + 1))
  }
  return membersOf(data, 0)
}
