import { type CredentialsCommand, credentialsDecider } from '#domain/credentials/decide.ts'
import { type CredentialsEvent, credentialsStream } from '#domain/credentials/events.ts'
import type { CredentialsState } from '#domain/credentials/state.ts'
import type { CommandContext, Done } from '#infra/event-store/stream-actors-port.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Sessions } from '#infra/http/sessions.ts'
import { isFull } from '#infra/limits/port.ts'
import { accepted, type Deps } from '../action.ts'
import { userMustExist } from '../users/user-must-exist.ts'

/**
 * Returns a user's credentials. Reads them from the event stream, because the read models may lack
 * the latest events.
 */
export const credentialsOf = ({ core }: Deps, userId: number): Promise<CredentialsState> =>
  core.actors.stateOf(credentialsDecider, credentialsStream(userId))

/**
 * Executes a command on a user's credentials. Throws if the command is rejected, or if the user was
 * deleted and the command is not `ForgetCredentials`.
 */
export async function changeCredentials(
  { core }: Deps,
  command: CredentialsCommand,
  context: CommandContext,
): Promise<Done<CredentialsEvent>> {
  const { type, userId } = command
  const step = { decider: credentialsDecider, stream: credentialsStream(userId), command }
  const steps = type === 'ForgetCredentials' ? [step] : [userMustExist(userId), step]
  return accepted(await core.actors.handleTogether(steps, context)) as Done<CredentialsEvent>
}

const USES_PER_MINUTE_MAX = 20
const USES_PER_DAY_MAX = 200

/**
 * Records that a code of an authenticator app or a passkey was used. Each record is permanent, so a
 * user is limited to 20 uses per minute and 200 per day. Throws 429 above these limits. Strangers
 * cannot use up the limits, because only valid codes and passkeys are recorded.
 */
export async function recordFactorUse(
  deps: Deps,
  command: Extract<CredentialsCommand, { readonly type: 'UseTotpStep' | 'UsePasskey' }>,
  context: CommandContext,
): Promise<void> {
  const rate = { kind: 'rate', isRefundable: false } as const
  const key = `factor-uses:${command.userId}`
  const outcome = await deps.core.limits.enter('login', [
    { ...rate, key: `${key}:minute`, max: USES_PER_MINUTE_MAX, periodMs: 60_000 },
    { ...rate, key: `${key}:day`, max: USES_PER_DAY_MAX, periodMs: 86_400_000 },
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  await changeCredentials(deps, command, context)
}

/**
 * Revokes a deleted user's sessions, access token and second factors, and deletes the secret of the
 * authenticator app. Returns the position of the recorded event.
 */
export async function revokeCredentials(
  deps: Deps,
  sessions: Sessions,
  userId: number,
  context: CommandContext,
): Promise<number> {
  const { totp } = await credentialsOf(deps, userId)
  const command = { type: 'ForgetCredentials', userId } as const
  const { position } = await changeCredentials(deps, command, context)
  if (totp !== null) await deps.core.vault.deleteSecret(totp.secretRef)
  await sessions.endAllOf(userId)
  return position
}
