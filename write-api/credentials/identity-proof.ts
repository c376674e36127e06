import type { FastifyRequest } from 'fastify'
import { hasSecondFactor } from '#domain/credentials/state.ts'
import { onlySession, principalOf, sessionOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { findUser } from '#projections/users/query.ts'
import { type Action, contextOf, type Deps } from '../action.ts'
import { credentialActions, type ProofOnly } from '../contract/credentials.ts'
import { countFailures, subjectOf } from '../sessions/record-failed-logins.ts'
import { isPassword } from '../users/passwords.ts'
import { credentialsError } from './credentials-errors.ts'
import { passkeyAssertionOptions } from './passkeys.ts'
import { credentialsOf } from './read-and-change-credentials.ts'
import { verifyPasskeySignature } from './verify-passkey-signature.ts'
import { limitProofAttempts, verifyCode } from './verify-second-factor-code.ts'

/** POST /api/user/passkeys/proof: returns the WebAuthn options for a proof of identity. */
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

/**
 * Returns the purpose for which a challenge for a proof of identity is issued. Challenges for
 * logins have another purpose, so that no challenge can be used for both.
 */
const proofPurpose = (userId: number): string => `prove:${userId}`

/**
 * Verifies the password, the code or the passkey in a request. Throws if the request contains none
 * of these proofs, or a wrong proof. A session alone must not be sufficient to change a login
 * method, because the session may be unattended.
 */
export const verifyProof = (
  deps: Deps,
  request: FastifyRequest,
  proof: ProofOnly,
): Promise<void> => {
  const { userId: id, role } = principalOf(request)
  const who = () => subjectOf({ id, role })
  return countFailures(deps, request, who, () => verifyGivenProof(deps, request, proof))
}

async function verifyGivenProof(
  deps: Deps,
  request: FastifyRequest,
  { password = '', code = '', passkey }: ProofOnly,
): Promise<void> {
  const { userId } = principalOf(request)
  if (password === '' && code === '' && passkey === undefined) throw credentialsError('ProofNeeded')
  const context = contextOf(deps, request)
  if (passkey !== undefined) {
    // No limit on failed attempts is needed, because a passkey's signature cannot be guessed.
    const check = { userId, passkey, purpose: proofPurpose(userId), isSoleFactor: true }
    return verifyPasskeySignature(deps, request, check, context)
  }
  const succeeded = await limitProofAttempts(deps, request)
  if (code !== '') await verifyCode(deps, userId, code, context)
  else {
    const user = await findUser(deps.core.db, userId)
    const isRight = user !== null && (await isPassword(deps.core.vault, user, password))
    if (!isRight) throw credentialsError('ProofWrong')
  }
  succeeded()
}

/**
 * Throws unless the caller has proved who uses the session. Users with a password or a second
 * factor must send a proof of identity. All other users must have logged in within the last half
 * hour. Without this check, a stranger at an unattended session could add a password or a second
 * factor.
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
 * Throws if the caller's last login or proof of identity is older than half an hour. Used by routes
 * whose requests contain no proof.
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
 * POST /api/user/proof: proves the caller's identity for this session. For the next half hour, the
 * session counts as recently logged in.
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
