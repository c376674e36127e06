import type { FastifyRequest } from 'fastify'
import { hasSecondFactor } from '#domain/credentials/state.ts'
import { onlySession, principalOf, sessionOf } from '#infra/http/access.ts'
import { endpoint } from '#infra/http/endpoint.ts'
import { done, success } from '#infra/http/envelope.ts'
import { findUser } from '#projections/users/query.ts'
import { type Action, contextOf, type Deps } from '../action.ts'
import { credentialActions, type ProofOnly } from '../contract/credentials.ts'
import { isPassword } from '../users/passwords.ts'
import { credentialsError } from './credentials-errors.ts'
import { credentialsOf } from './credentials-of.ts'
import { passkeyAssertionOptions } from './passkeys.ts'
import { enterProofGuard, verifyCode } from './verify-code.ts'
import { verifyPasskey } from './verify-passkey.ts'

/**
 * POST /api/user/passkeys/proof: returns the WebAuthn options to prove the caller's identity with a
 * passkey.
 */
export const beginProof: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'POST /api/user/passkeys/proof'),
    onRequest: onlySession,
    handler: async (request) => {
      const { userId } = principalOf(request)
      const purpose = proofPurpose(userId)
      const assertion = { userId, purpose, userVerification: 'required' } as const
      return success({ options: await passkeyAssertionOptions(deps, request, assertion) })
    },
  })
}

/** A separate purpose, so that a challenge of a login is not valid as a proof. */
const proofPurpose = (userId: number): string => `prove:${userId}`

/**
 * Throws unless the request's user confirms the identity with the password, a code or an unlocked
 * passkey: an unattended session must not be enough to change a login method.
 */
export async function verifyProof(
  deps: Deps,
  request: FastifyRequest,
  { password = '', code = '', passkey }: ProofOnly,
): Promise<void> {
  const { userId } = principalOf(request)
  if (password === '' && code === '' && passkey === undefined) throw credentialsError('ProofNeeded')
  const context = contextOf(deps, request)
  if (passkey !== undefined) {
    // Signatures cannot be guessed, so failed codes of others must not delay a passkey.
    const check = { userId, passkey, purpose: proofPurpose(userId), isSoleFactor: true }
    return verifyPasskey(deps, request, check, context)
  }
  const succeeded = await enterProofGuard(deps, request)
  if (code !== '') await verifyCode(deps, userId, code, context)
  else {
    const user = await findUser(deps.core.db, userId)
    const isRight = user !== null && (await isPassword(deps.core.vault, user, password))
    if (!isRight) throw credentialsError('ProofWrong')
  }
  succeeded()
}

/**
 * As `verifyProof` for a user who has a password or a second factor. A user who has neither must
 * have signed in just now, so that nobody else with the session can add the first one.
 */
export async function requireProofOrRecentLogin(
  deps: Deps,
  request: FastifyRequest,
  proof: ProofOnly,
): Promise<void> {
  if (await hasProof(deps, principalOf(request).userId)) await verifyProof(deps, request, proof)
  else if (!isRecent(deps, request)) throw credentialsError('LoginNotRecent')
}

/**
 * Throws unless the request's user has signed in, or proved the identity again, within half an
 * hour. It guards calls that carry no proof themselves and add or remove a login method.
 */
export async function requireRecentLogin(deps: Deps, request: FastifyRequest): Promise<void> {
  if (isRecent(deps, request)) return
  const canProve = await hasProof(deps, principalOf(request).userId)
  throw credentialsError(canProve ? 'ProofNotRecent' : 'LoginNotRecent')
}

const RECENT_MS = 30 * 60_000

const isRecent = ({ core }: Deps, request: FastifyRequest): boolean =>
  core.now() - principalOf(request).provedAt <= RECENT_MS

async function hasProof(deps: Deps, userId: number): Promise<boolean> {
  if (hasSecondFactor(await credentialsOf(deps, userId))) return true
  const user = await findUser(deps.core.db, userId)
  return user !== null && user.passwordRef !== null
}

/**
 * POST /api/user/proof: lets this session make calls that require a recent login for half an hour.
 */
export const proveSession: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'POST /api/user/proof'),
    onRequest: onlySession,
    handler: async (request) => {
      await verifyProof(deps, request, request.body)
      await request.server.gate.sessions.prove(sessionOf(request))
      return done()
    },
  })
}
