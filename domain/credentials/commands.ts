import type { Sealed } from '../shared/event.ts'

type OfUser = { readonly userId: number }

export type IssueAccessToken = OfUser & {
  readonly type: 'IssueAccessToken'
  readonly tokenHash: string
  readonly authVersion: number
  /** Unix seconds. */
  readonly expiresAt: number
}

export type RevokeAccessToken = OfUser & { readonly type: 'RevokeAccessToken' }

/** `codeHashes`: the recovery codes, for when there are none yet. */
export type EnableTotp = OfUser & {
  readonly type: 'EnableTotp'
  readonly secretRef: string
  readonly step: number
  readonly codeHashes: readonly string[]
}

export type UseTotpStep = OfUser & { readonly type: 'UseTotpStep'; readonly step: number }

export type DisableTotp = OfUser & { readonly type: 'DisableTotp' }

export type ReplaceRecoveryCodes = OfUser & {
  readonly type: 'ReplaceRecoveryCodes'
  readonly codeHashes: readonly string[]
}

export type UseRecoveryCode = OfUser & {
  readonly type: 'UseRecoveryCode'
  readonly codeHash: string
}

/** `codeHashes`: as with `EnableTotp`. */
export type AddPasskey = OfUser & {
  readonly type: 'AddPasskey'
  readonly name: Sealed
  readonly credential: Sealed
  readonly credentialHash: string
  readonly counter: number
  readonly codeHashes: readonly string[]
}

export type RenamePasskey = OfUser & {
  readonly type: 'RenamePasskey'
  readonly passkeyId: number
  readonly name: Sealed
}

export type UsePasskey = OfUser & {
  readonly type: 'UsePasskey'
  readonly passkeyId: number
  readonly counter: number
}

export type RemovePasskey = OfUser & { readonly type: 'RemovePasskey'; readonly passkeyId: number }

/** By somebody above the user, who has lost what the second step takes. */
export type ResetSecondFactor = OfUser & {
  readonly type: 'ResetSecondFactor'
  /** Those there were: refused where there is one more, which may be the last way in. */
  readonly passkeyIds: readonly number[]
}

export type ForgetCredentials = OfUser & { readonly type: 'ForgetCredentials' }

export type CredentialsCommand =
  | IssueAccessToken
  | RevokeAccessToken
  | EnableTotp
  | UseTotpStep
  | DisableTotp
  | ReplaceRecoveryCodes
  | UseRecoveryCode
  | AddPasskey
  | RenamePasskey
  | UsePasskey
  | RemovePasskey
  | ResetSecondFactor
  | ForgetCredentials
