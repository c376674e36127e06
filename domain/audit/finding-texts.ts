import type { TranslatedText } from '../shared/translated-text.ts'
import { ACCOUNT_TEXTS } from './finding-texts/account-texts.ts'
import { CALL_TEXTS } from './finding-texts/call-texts.ts'
import { EXPORT_TEXTS } from './finding-texts/export-texts.ts'
import { LOG_TEXTS } from './finding-texts/log-texts.ts'
import { ORDER_TEXTS } from './finding-texts/order-texts.ts'
import { READ_MODEL_TEXTS } from './finding-texts/read-model-texts.ts'
import { RECORD_TEXTS } from './finding-texts/record-texts.ts'

/**
 * The text of each code in both languages. Codes and the names of their params are stored with the
 * results of verifications, so they are not renamed.
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

/** The params of a code, or an empty object if its text has none. */
export type ParamsOf<Code extends FindingCode> = Code extends FindingCode
  ? FindingTexts[Code] extends (params: infer Params) => TranslatedText
    ? Params
    : Readonly<Record<string, never>>
  : never

/** The codes whose texts have no params. */
export type PlainCode = {
  [Code in FindingCode]: FindingTexts[Code] extends TranslatedText ? Code : never
}[FindingCode]

/** A code with its params. It is the content of a finding without the text of a language. */
export type CodedFinding<Code extends FindingCode = FindingCode> = {
  readonly [Each in Code]: { readonly code: Each; readonly params: ParamsOf<Each> }
}[Code]

/** Returns the text of a code in both languages, or null if code or params are unknown. */
export function findingText(code: string, params: object): TranslatedText | null {
  if (!Object.hasOwn(FINDING_TEXTS, code)) return null
  const text = FINDING_TEXTS[code as FindingCode] as
    | TranslatedText
    | ((params: object) => TranslatedText)
  if (typeof text !== 'function') return text
  try {
    return text(params)
  } catch {
    // Stored params may be of another release, or edited: they must not hide the other findings.
    return null
  }
}

/** Returns the English sentence of a code. */
export const englishText = ({ code, params }: CodedFinding): string =>
  findingText(code, params)?.en ?? code

/** An error that a verification reports as a finding. Its message is the English sentence. */
export class FindingError extends Error {
  readonly finding: CodedFinding

  constructor(finding: CodedFinding) {
    super(englishText(finding))
    this.name = 'FindingError'
    this.finding = finding
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Converts an error to a finding. The message of an unexpected error is not translated. */
export const findingOf = (error: unknown): CodedFinding =>
  error instanceof FindingError
    ? error.finding
    : { code: 'Unreadable', params: { reason: messageOf(error) } }
