import type { FastifyRequest } from 'fastify'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { sessionOf } from '#infra/http/access-checks.ts'
import { addressKey } from '#infra/http/client-address-hash.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { knownDevice } from '#infra/http/session-and-device-cookies.ts'
import { type BackoffClaim, type Claim, isFull } from '#infra/limits/port.ts'
import type { Deps } from '../action.ts'
import { credentialsError } from './credentials-errors.ts'
import { changeCredentials, credentialsOf, recordFactorUse } from './read-and-change-credentials.ts'
import { isTotpCode, recoveryCodeHash, totpOwner, totpStep } from './totp-and-recovery-codes.ts'

/**
 * Verifies and consumes a code: either a six-digit code of the authenticator app or a recovery
 * code. Throws `CodeWrong` or `CodeUsed` if the code is not valid. If several requests contain the
 * same code, only one of them succeeds.
 */
export async function verifyCode(
  deps: Deps,
  userId: number,
  text: string,
  context: CommandContext,
): Promise<void> {
  const code = text.replace(/\s/g, '')
  const { vault, now } = deps.core
  if (!isTotpCode(code)) {
    const codeHash = recoveryCodeHash(vault, userId, code)
    await changeCredentials(deps, { type: 'UseRecoveryCode', userId, codeHash }, context)
    return
  }
  const { totp } = await credentialsOf(deps, userId)
  if (totp === null) throw credentialsError('CodeWrong')
  const ref = totp.secretRef
  const secrets = await vault.getSecrets('totp', [{ owner: totpOwner(userId), ref }])
  const secret = secrets.get(ref)
  const step = secret === undefined ? null : totpStep(secret, code, now())
  if (step === null) throw credentialsError('CodeWrong')
  await recordFactorUse(deps, { type: 'UseTotpStep', userId, step }, context)
}

const FREE_FAILURES = 5
const DELAY_MS_MAX = 15 * 60_000
const DAY_MS = 24 * 3_600_000
/**
 * The maximum number of failed attempts per user and day. Attempts from browsers that have logged
 * in to the account before are not included.
 */
const DAILY_FAILURES_MAX = 50

type OnSuccess = () => void

/**
 * Limits how fast codes can be guessed in the second step of a login. After five wrong codes from
 * an IP address, each attempt doubles the wait, up to 15 minutes. A user can have 50 failed
 * attempts per day. A stranger without the password cannot use up these attempts. A browser that
 * has logged in before has a separate limit. Throws 429 if the caller must wait. After a correct
 * code, the caller must call the returned function.
 */
export async function limitCodeAttempts(
  { core }: Deps,
  request: FastifyRequest,
  user: { readonly id: number; readonly authVersion: number },
): Promise<OnSuccess> {
  const device = knownDevice(request, user)
  if (device !== null)
    return acquireAttempt(core, [backoff(`second-factor-device:${user.id}:${device}`)])
  const key = `second-factor-day:${user.id}`
  const rate = { max: DAILY_FAILURES_MAX, periodMs: DAY_MS, isRefundable: true }
  return acquireAttempt(core, [
    backoff(`second-factor:${user.id}:${addressKey(core.vault, request.ip)}`),
    { kind: 'rate', key, ...rate },
  ])
}

/**
 * Limits how fast proofs of identity can be guessed. The waits are the same as in
 * `limitCodeAttempts`. Each session has a separate limit, so that a stolen session cannot block the
 * owner.
 */
export const limitProofAttempts = ({ core }: Deps, request: FastifyRequest): Promise<OnSuccess> =>
  acquireAttempt(core, [backoff(`proof:${sessionOf(request)}`)])

const backoff = (key: string): BackoffClaim => ({
  kind: 'backoff',
  key,
  freeTries: FREE_FAILURES,
  delayMsMax: DELAY_MS_MAX,
  forgetMs: DAY_MS,
})

async function acquireAttempt(
  { limits }: Deps['core'],
  claims: readonly Claim[],
): Promise<OnSuccess> {
  const outcome = await limits.enter('login', claims)
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  return () => outcome.release({ isRefunded: true })
}
