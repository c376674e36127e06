import type { Refusal } from '../shared/refusal.ts'

export type CredentialsRefusalCode =
  | 'TotpAlreadyOn'
  /** There is neither TOTP nor a passkey. */
  | 'NoSecondFactor'
  /** The step, or a later one, was used before: a code is good once. */
  | 'CodeUsed'
  | 'CodeWrong'
  | 'PasskeyKnown'
  | 'PasskeyUnknown'
  /** Its counter went back: somebody has a copy of it. */
  | 'PasskeyCopied'
  /** One was added meanwhile. */
  | 'PasskeysChanged'
  | 'TooManyPasskeys'

export type CredentialsRefusal = Refusal<CredentialsRefusalCode>
