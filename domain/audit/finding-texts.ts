import type { TranslatedText } from '../shared/translated-text.ts'
import { ACCOUNT_TEXTS } from './finding-texts/account-texts.ts'
import { CALL_TEXTS } from './finding-texts/call-texts.ts'
import { LOG_TEXTS } from './finding-texts/log-texts.ts'
import { ORDER_TEXTS } from './finding-texts/order-and-redemption-texts.ts'
import { READ_MODEL_TEXTS } from './finding-texts/read-model-texts.ts'
import { EXPORT_TEXTS, RECORD_TEXTS } from './finding-texts/record-and-export-texts.ts'

/**
 * The text of each finding in English and Chinese, by the finding's code. Codes and names of params
 * are stored with the results of verifications, so they must not be renamed.
 */
const FINDING_TEXTS = {
  ...RECORD_TEXTS,
  ...ACCOUNT_TEXTS,
  ...CALL_TEXTS,
  ...ORDER_TEXTS,
  ...LOG_TEXTS,
  ...READ_MODEL_TEXTS,
  ...EXPORT_TEXTS,
}
type FindingTexts = typeof FINDING_TEXTS

export type FindingCode = keyof FindingTexts

/** The type of the params of a code. It is an empty object if the code's text has no params. */
export type ParamsOf<Code extends FindingCode> = Code extends FindingCode
  ? FindingTexts[Code] extends (params: infer Params) => TranslatedText
    ? Params
    : Readonly<Record<string, never>>
  : never

/** The codes whose texts have no params. */
export type PlainCode = {
  [Code in FindingCode]: FindingTexts[Code] extends TranslatedText ? Code : never
}[FindingCode]

/**
 * A finding as a code with params. The texts in all languages are made from the code and the
 * params.
 */
export type CodedFinding<Code extends FindingCode = FindingCode> = {
  readonly [Each in Code]: { readonly code: Each; readonly params: ParamsOf<Each> }
}[Code]

/**
 * Returns the text of a finding in both languages. Returns null if the code is unknown, or if the
 * text cannot be made from `params`.
 */
export function findingText(code: string, params: object): TranslatedText | null {
  if (!Object.hasOwn(FINDING_TEXTS, code)) return null
  const text = FINDING_TEXTS[code as FindingCode] as
    | TranslatedText
    | ((params: object) => TranslatedText)
  if (typeof text !== 'function') return text
  try {
    return text(params)
  } catch {
    // Stored params may come from another release or may have been edited. They must not prevent
    // the other findings from being shown.
    return null
  }
}

/** Returns the English text of a finding, or the finding's code if the text can't be made. */
export const englishText = ({ code, params }: CodedFinding): string =>
  findingText(code, params)?.en ?? code

/**
 * An error that a verification reports as a finding. The error's message is the English text of the
 * finding.
 */
export class FindingError extends Error {
  readonly finding: CodedFinding

  constructor(finding: CodedFinding) {
    super(englishText(finding))
    this.name = 'FindingError'
    this.finding = finding
  }
}

/**
 * Returns the reason in an error that was thrown while data was read. For a `FindingError`, this is
 * the error's message. For any other error, it is only the error's name, because V8's messages
 * quote the text that V8 could not parse. Damaged data may contain personal data or a secret, and
 * findings are stored in events, which are kept forever.
 */
export const safeReasonOf = (error: unknown): string =>
  error instanceof FindingError ? error.message : error instanceof Error ? error.name : 'Error'

/** Converts an error to a finding. An unexpected error becomes the finding `Unreadable`. */
export const findingOf = (error: unknown): CodedFinding =>
  error instanceof FindingError
    ? error.finding
    : { code: 'Unreadable', params: { reason: safeReasonOf(error) } }
