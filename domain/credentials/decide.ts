import type { Decider } from '../shared/decider.ts'
import { refuse } from '../shared/refusal.ts'
import type { AddPasskey, CredentialsCommand } from './commands.ts'
import type { CredentialsEvent } from './events.ts'
import { evolveCredentials } from './evolve.ts'
import type { CredentialsRefusal } from './refusals.ts'
import { type CredentialsState, hasSecondFactor, initialCredentials } from './state.ts'

const PASSKEYS_MAX = 20

type Outcome = readonly CredentialsEvent[] | CredentialsRefusal
type Command<Type extends CredentialsCommand['type']> = Extract<
  CredentialsCommand,
  { readonly type: Type }
>

export const credentialsDecider: Decider<
  CredentialsState,
  CredentialsCommand,
  CredentialsEvent,
  CredentialsRefusal
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
        if (!hasSecondFactor(state)) return refuse('NoSecondFactor')
        return [{ type: 'RecoveryCodesReplaced', v: 1, data: { userId, codeHashes } }]
      }
      case 'UseRecoveryCode': {
        const { userId, codeHash } = command
        if (!state.recoveryCodes.has(codeHash)) return refuse('CodeWrong')
        return [{ type: 'RecoveryCodeUsed', v: 1, data: { userId, codeHash } }]
      }
      case 'ResetSecondFactor': {
        const { userId } = command
        if (!hasSecondFactor(state)) return refuse('NoSecondFactor')
        const passkeyIds = [...state.passkeys.keys()]
        const isNew = (id: number): boolean => !command.passkeyIds.includes(id)
        if (passkeyIds.some(isNew)) return refuse('PasskeysChanged')
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
  if (state.totp !== null) return refuse('TotpAlreadyOn')
  const enabled = { type: 'TotpEnabled', v: 1, data: { userId, secretRef, step } } as const
  return [enabled, ...firstCodes(userId, codeHashes, state)]
}

function takeStep({ userId, step }: Command<'UseTotpStep'>, { totp }: CredentialsState): Outcome {
  if (totp === null) return refuse('CodeWrong')
  if (step <= totp.usedStep) return refuse('CodeUsed')
  return [{ type: 'TotpStepUsed', v: 1, data: { userId, step } }]
}

function changePasskeys(
  command: Command<'AddPasskey' | 'RenamePasskey' | 'UsePasskey' | 'RemovePasskey'>,
  state: CredentialsState,
): Outcome {
  if (command.type === 'AddPasskey') return addPasskey(command, state)
  const { userId, passkeyId } = command
  const passkey = state.passkeys.get(passkeyId)
  if (passkey === undefined) return refuse('PasskeyUnknown')
  switch (command.type) {
    case 'RenamePasskey': {
      const { name } = command
      if (name === passkey.name) return []
      return [{ type: 'PasskeyRenamed', v: 1, data: { userId, passkeyId, name } }]
    }
    case 'UsePasskey': {
      const { counter } = command
      // Many authenticators count nothing, and say 0 always.
      const counts = counter > 0 || passkey.counter > 0
      if (counts && counter <= passkey.counter) return refuse('PasskeyCopied')
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
  const known = [...state.passkeys.values()]
  if (known.some(({ credentialHash }) => credentialHash === data.credentialHash)) {
    return refuse('PasskeyKnown')
  }
  if (known.length >= PASSKEYS_MAX) return refuse('TooManyPasskeys', { limit: PASSKEYS_MAX })
  const passkeyId = state.passkeysMade + 1
  const added = { type: 'PasskeyAdded', v: 1, data: { passkeyId, ...data } } as const
  return [added, ...firstCodes(data.userId, codeHashes, state)]
}

/** Made with the first second factor, so that nobody is locked out for want of it. */
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
