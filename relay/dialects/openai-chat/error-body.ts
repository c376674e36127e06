import type { RelayError } from '#relay/canonical/relay-error.ts'
import { type Language, RELAY_ERRORS } from '#relay/canonical/relay-error-catalogue.ts'
import type { ErrorFormat } from '../wire-format.ts'

/** An error in the format that OpenAI's clients read. */
export type ErrorBody = {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string | null
  }
}

/**
 * Renders an error in OpenAI's format and in the caller's language. `status` is the HTTP status.
 */
export function errorBody(
  error: RelayError,
  language: Language,
): { readonly status: number; readonly body: ErrorBody } {
  const { status, type, en, zh } = RELAY_ERRORS[error.code]
  const message = (language === 'zh' ? zh : en)
    .replace('{param}', () => error.params.param ?? '')
    .replace('{subject}', () => error.params.subject ?? '')
  return {
    status,
    body: { error: { message, type, param: error.params.param ?? null, code: error.code } },
  }
}

const TEXT_MAX = 2_000
/**
 * Only this many characters of a provider's message are searched for keys and addresses. The rest
 * is dropped.
 */
const LOOKED_AT_MAX = 2 * TEXT_MAX
const SECRETS =
  /\b(?:sk|pk|rk|sess|key|gsk|xai|sat)[-_][\w-]{6,}[\w*.-]*|\bAIza[\w-]{10,}|\bBearer\s+\S+|\borg-[\w-]{4,}|\bproj_[\w-]{4,}/gi
const ADDRESSES =
  /\b(?:https?|wss?):\/\/\S+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\b(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)\b/gi

/**
 * The minimum length of a confidential text that is redacted. Shorter texts would also match
 * ordinary words.
 */
const TELLING_MIN = 5

/**
 * Removes keys, account names, addresses and the texts in `confidential` from a provider's message.
 * The message is shortened only afterwards, because a partial secret would not be recognized. A
 * word that crosses the limit `LOOKED_AT_MAX` is removed completely.
 */
export function redact(text: string, confidential: readonly string[]): string {
  const telling = confidential.filter(({ length }) => length >= TELLING_MIN)
  const unnamed = telling
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, each) => left.replaceAll(each, '***'), text)
  return wholeWordsOf(unnamed).replace(SECRETS, '***').replace(ADDRESSES, '***').slice(0, TEXT_MAX)
}

function wholeWordsOf(text: string): string {
  if (text.length <= LOOKED_AT_MAX) return text
  let end = LOOKED_AT_MAX
  while (end > 0 && /\S/.test(text.charAt(end - 1))) end -= 1
  return `${text.slice(0, end)}***`
}

/**
 * Renders a provider's error in OpenAI's format: `{ error: { message, type, param, code } }`. If
 * `isHidden` is true, the provider's texts are left out. `confidential` contains the channel's
 * confidential texts, such as its key and host name.
 */
export function providerErrorBody(
  bytes: Buffer,
  status: number,
  {
    isHidden,
    confidential,
  }: { readonly isHidden: boolean; readonly confidential: readonly string[] },
): ErrorBody {
  const error = isHidden ? {} : errorIn(bytes)
  const message = textIn(error.message)
  const param = textIn(error.param)
  const code = textIn(error.code) ?? (typeof error.code === 'number' ? `${error.code}` : null)
  return {
    error: {
      message:
        message === null ? `The provider answered ${status}.` : redact(message, confidential),
      type: redact(textIn(error.type) ?? 'upstream_error', confidential),
      param: param === null ? null : redact(param, confidential),
      code: code === null ? 'upstream_error' : redact(code, confidential),
    },
  }
}

/**
 * Returns the code of a provider's error, such as `insufficient_quota`; null if the error has no
 * code.
 */
export function providerErrorCode(bytes: Buffer): string | null {
  const { code, type, details } = errorIn(bytes)
  const own = textIn(code) ?? textIn(type) ?? reasonIn(details)
  return own?.slice(0, TEXT_MAX) ?? null
}

/** The number of details of an error that are searched for a reason. */
const DETAILS_MAX = 16

/** Returns the reason in the details of Google's errors, such as `API_KEY_INVALID`. */
function reasonIn(details: unknown): string | null {
  for (const detail of Array.isArray(details) ? details.slice(0, DETAILS_MAX) : []) {
    const reason = textIn((detail as { reason?: unknown } | null)?.reason)
    if (reason !== null) return reason
  }
  return null
}

/** Returns the texts of a provider's error. A missing text is returned as an empty string. */
export function providerErrorFields(bytes: Buffer): {
  readonly code: string
  readonly type: string
  readonly message: string
} {
  const { code, type, message } = errorIn(bytes)
  const fieldOf = (value: unknown): string => (textIn(value) ?? '').slice(0, TEXT_MAX)
  return {
    code: typeof code === 'number' ? `${code}` : fieldOf(code),
    type: fieldOf(type),
    message: fieldOf(message),
  }
}

type LooseError = {
  message?: unknown
  type?: unknown
  param?: unknown
  code?: unknown
  details?: unknown
}

function errorIn(bytes: Buffer): LooseError {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    return {}
  }
  if (typeof value !== 'object' || value === null) return {}
  const { error, message } = value as { error?: unknown; message?: unknown }
  if (typeof error === 'object' && error !== null) return error as LooseError
  return { message: typeof error === 'string' ? error : message }
}

const textIn = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

export const OPENAI_ERRORS: ErrorFormat = {
  errorBody,
  providerErrorBody,
  errorEvent: (body) => `data: ${JSON.stringify(body)}\n\n`,
}
