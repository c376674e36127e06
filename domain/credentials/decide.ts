import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { Sealed } from '../shared/event.ts'
import type { CredentialsEvent } from './events.ts'
import {
  type CredentialsState,
  evolveCredentials,
  hasSecondFactor,
  initialCredentials,
} from './state.ts'

type UserReference = { readonly userId: number }

type IssueAccessToken = UserReference & {
  readonly type: 'IssueAccessToken'
  readonly tokenHash: string
  readonly authVersion: number
  /** The time at which the access token expires, in Unix seconds. */
  readonly expiresAt: number
}

type RevokeAccessToken = UserReference & { readonly type: 'RevokeAccessToken' }

/**
 * Enables TOTP. `codeHashes` are hashes of new recovery codes. They are stored if the user has no
 * second factor yet.
 */
type EnableTotp = UserReference & {
  readonly type: 'EnableTotp'
  readonly secretRef: string
  readonly step: number
  readonly codeHashes: readonly string[]
}

type UseTotpStep = UserReference & { readonly type: 'UseTotpStep'; readonly step: number }

type DisableTotp = UserReference & { readonly type: 'DisableTotp' }

type ReplaceRecoveryCodes = UserReference & {
  readonly type: 'ReplaceRecoveryCodes'
  readonly codeHashes: readonly string[]
}

type UseRecoveryCode = UserReference & {
  readonly type: 'UseRecoveryCode'
  readonly codeHash: string
}

/**
 * Adds a passkey. `codeHashes` are hashes of new recovery codes. They are stored if the user has no
 * second factor yet.
 */
export type AddPasskey = UserReference & {
  readonly type: 'AddPasskey'
  readonly name: Sealed
  readonly credential: Sealed
  readonly credentialHash: string
  readonly counter: number
  readonly codeHashes: readonly string[]
}

type RenamePasskey = UserReference & {
  readonly type: 'RenamePasskey'
  readonly passkeyId: number
  readonly name: Sealed
}

type UsePasskey = UserReference & {
  readonly type: 'UsePasskey'
  readonly passkeyId: number
  readonly counter: number
}

type RemovePasskey = UserReference & { readonly type: 'RemovePasskey'; readonly passkeyId: number }

/**
 * Removes TOTP and all passkeys of a user who has lost them, at the request of a more privileged
 * user.
 */
type ResetSecondFactor = UserReference & {
  readonly type: 'ResetSecondFactor'
  /**
   * The ids of the passkeys that the admin saw. The command is refused if a passkey has been added
   * since then.
   */
  readonly passkeyIds: readonly number[]
}

type ForgetCredentials = UserReference & { readonly type: 'ForgetCredentials' }

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

export type CredentialsErrorCode =
  | 'TotpAlreadyOn'
  /** The user has neither TOTP nor a passkey. */
  | 'NoSecondFactor'
  /** A code of the same or a later time step was already used. Each code can be used only once. */
  | 'CodeUsed'
  | 'CodeWrong'
  | 'PasskeyKnown'
  | 'PasskeyUnknown'
  /** The passkey's signature counter did not increase, so a copy of the passkey may exist. */
  | 'PasskeyCopied'
  /** A passkey was added after the admin had read the list of passkeys. */
  | 'PasskeysChanged'
  | 'TooManyPasskeys'

type CredentialsError = CodedError<CredentialsErrorCode>

const PASSKEYS_MAX = 20

type Outcome = readonly CredentialsEvent[] | CredentialsError
type Command<Type extends CredentialsCommand['type']> = Extract<
  CredentialsCommand,
  { readonly type: Type }
>

export const credentialsDecider: Decider<
  CredentialsState,
  CredentialsCommand,
  CredentialsEvent,
  CredentialsError
> = {
  initialState: initialCredentials,
  evolve: evolveCredentials,
  decide: (command, state) => {
    switch (command.type) {
      case 'IssueAccessToken': {
        const { type, ...data } = command
        if (state.accessToken?.tokenHash === data.tokenHash) return []
        return [{ type: 'AccessTokenIssued', v: 1, data }]
      }
      case 'RevokeAccessToken': {
        const { userId } = command
        if (state.accessToken === null) return []
        return [{ type: 'AccessTokenRevoked', v: 1, data: { userId } }]
      }
      case 'EnableTotp':
        return enableTotp(command, state)
      case 'UseTotpStep':
        return takeStep(command, state)
      case 'DisableTotp': {
        const { userId } = command
        if (state.totp === null) return []
        const off = { type: 'TotpDisabled', v: 1, data: { userId } } as const
        return [off, ...voidedCodes(userId, { ...state, totp: null })]
      }
      case 'ReplaceRecoveryCodes': {
        const { userId, codeHashes } = command
        if (!hasSecondFactor(state)) return codedError('NoSecondFactor')
        return [{ type: 'RecoveryCodesReplaced', v: 1, data: { userId, codeHashes } }]
      }
      case 'UseRecoveryCode': {
        const { userId, codeHash } = command
        if (!state.recoveryCodes.has(codeHash)) return codedError('CodeWrong')
        return [{ type: 'RecoveryCodeUsed', v: 1, data: { userId, codeHash } }]
      }
      case 'ResetSecondFactor': {
        const { userId } = command
        if (!hasSecondFactor(state)) return codedError('NoSecondFactor')
        const passkeyIds = [...state.passkeys.keys()]
        const isNew = (id: number): boolean => !command.passkeyIds.includes(id)
        if (passkeyIds.some(isNew)) return codedError('PasskeysChanged')
        return [{ type: 'SecondFactorReset', v: 1, data: { userId, passkeyIds } }]
      }
      case 'ForgetCredentials':
        return forget(command.userId, state)
      default:
        return changePasskeys(command, state)
    }
  },
}

function enableTotp(command: Command<'EnableTotp'>, state: CredentialsState): Outcome {
  const { userId, secretRef, step, codeHashes } = command
  if (state.totp?.secretRef === secretRef) return []
  if (state.totp !== null) return codedError('TotpAlreadyOn')
  const enabled = { type: 'TotpEnabled', v: 1, data: { userId, secretRef, step } } as const
  return [enabled, ...firstCodes(userId, codeHashes, state)]
}

function takeStep({ userId, step }: Command<'UseTotpStep'>, { totp }: CredentialsState): Outcome {
  if (totp === null) return codedError('CodeWrong')
  if (step <= totp.usedStep) return codedError('CodeUsed')
  return [{ type: 'TotpStepUsed', v: 1, data: { userId, step } }]
}

function changePasskeys(
  command: Command<'AddPasskey' | 'RenamePasskey' | 'UsePasskey' | 'RemovePasskey'>,
  state: CredentialsState,
): Outcome {
  if (command.type === 'AddPasskey') return addPasskey(command, state)
  const { userId, passkeyId } = command
  const passkey = state.passkeys.get(passkeyId)
  if (passkey === undefined) return codedError('PasskeyUnknown')
  switch (command.type) {
    case 'RenamePasskey': {
      const { name } = command
      if (name === passkey.name) return []
      return [{ type: 'PasskeyRenamed', v: 1, data: { userId, passkeyId, name } }]
    }
    case 'UsePasskey': {
      const { counter } = command
      // Many authenticators have no counter and always report 0. The counter is therefore checked
      // only if one of the two values is above 0.
      const counts = counter > 0 || passkey.counter > 0
      if (counts && counter <= passkey.counter) return codedError('PasskeyCopied')
      return [{ type: 'PasskeyUsed', v: 1, data: { userId, passkeyId, counter } }]
    }
    case 'RemovePasskey': {
      const passkeys = new Map(state.passkeys)
      passkeys.delete(passkeyId)
      const removed = { type: 'PasskeyRemoved', v: 1, data: { userId, passkeyId } } as const
      return [removed, ...voidedCodes(userId, { ...state, passkeys })]
    }
  }
}

function addPasskey({ type, codeHashes, ...data }: AddPasskey, state: CredentialsState): Outcome {
  const passkeys = [...state.passkeys.values()]
  if (passkeys.some(({ credentialHash }) => credentialHash === data.credentialHash)) {
    return codedError('PasskeyKnown')
  }
  if (passkeys.length >= PASSKEYS_MAX) return codedError('TooManyPasskeys', { limit: PASSKEYS_MAX })
  const passkeyId = state.passkeysMade + 1
  const added = { type: 'PasskeyAdded', v: 1, data: { passkeyId, ...data } } as const
  return [added, ...firstCodes(data.userId, codeHashes, state)]
}

/**
 * Returns the event that stores the recovery codes, or no event if the user already had a second
 * factor. A recovery code lets a user who has lost the device log in.
 */
function firstCodes(
  userId: number,
  codeHashes: readonly string[],
  state: CredentialsState,
): CredentialsEvent[] {
  if (hasSecondFactor(state)) return []
  return [{ type: 'RecoveryCodesReplaced', v: 1, data: { userId, codeHashes } }]
}

function voidedCodes(userId: number, state: CredentialsState): CredentialsEvent[] {
  if (hasSecondFactor(state) || state.recoveryCodes.size === 0) return []
  return [{ type: 'RecoveryCodesReplaced', v: 1, data: { userId, codeHashes: [] } }]
}

function forget(userId: number, state: CredentialsState): Outcome {
  if (state.accessToken === null && !hasSecondFactor(state)) return []
  const passkeyIds = [...state.passkeys.keys()]
  return [{ type: 'CredentialsForgotten', v: 1, data: { userId, passkeyIds } }]
}
