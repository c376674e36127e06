import type { FastifyRequest } from 'fastify'
import { hasSecondFactor } from '#domain/credentials/state.ts'
import { onlySession, principalOf, sessionOf } from '#infra/http/access.ts'
import { Done, done, success } from '#infra/http/envelope.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, contextOf, type Deps } from '../action.ts'
import { PasskeyOptions, ProofOnly } from '../contract/credentials.ts'
import { isPassword } from '../users/passwords.ts'
import { credentialsError } from './credentials-errors.ts'
import { credentialsOf } from './credentials-of.ts'
import { passkeyAssertionOptions } from './passkeys.ts'
import { tryProof, verifyCode } from './verify-code.ts'
import { verifyPasskey } from './verify-passkey.ts'

/** POST /api/user/passkeys/proof: what the browser asks for an own passkey by, as proof. */
export const beginProof: Action = (api, deps) => {
  api.post(
    '/api/user/passkeys/proof',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Begin to prove by a passkey who asks, for acts that want a proof',
        response: { 200: Envelope(PasskeyOptions) },
      },
    },
    async (request) => {
      const { userId } = principalOf(request)
      const purpose = proofPurpose(userId)
      const asked = { userId, purpose, userVerification: 'required' } as const
      return success({ options: await passkeyAssertionOptions(deps, request, asked) })
    },
  )
}

/** A challenge of a login is none for a proof. */
const proofPurpose = (userId: number): string => `prove:${userId}`

/**
 * Throws unless the request's user shows once more who it is, by the password, a code or an
 * unlocked passkey: a session left open must not be enough to change what others come in by.
 */
export async function prove(
  deps: Deps,
  request: FastifyRequest,
  { password = '', code = '', passkey }: ProofOnly,
): Promise<void> {
  const { userId } = principalOf(request)
  if (password === '' && code === '' && passkey === undefined) throw credentialsError('ProofNeeded')
  const context = contextOf(deps, request)
  if (passkey !== undefined) {
    // Nobody guesses a signature: wrong codes of others must not keep a passkey waiting.
    const shown = { userId, passkey, purpose: proofPurpose(userId), isSoleFactor: true }
    return verifyPasskey(deps, request, shown, context)
  }
  const succeeded = await tryProof(deps, request)
  if (code !== '') await verifyCode(deps, userId, code, context)
  else {
    const user = await findUser(deps.core.db, userId)
    const isRight = user !== null && (await isPassword(deps.core.vault, user, password))
    if (!isRight) throw credentialsError('ProofWrong')
  }
  succeeded()
}

/**
 * As above, for whoever has a password or a second factor to show; who has neither must have logged
 * in just now. So that what makes a first way to prove oneself is nobody else's to make.
 */
export async function proveAnew(
  deps: Deps,
  request: FastifyRequest,
  proof: ProofOnly,
): Promise<void> {
  if (await hasProof(deps, principalOf(request).userId)) await prove(deps, request, proof)
  else if (!isRecent(deps, request)) throw credentialsError('LoginNotRecent')
}

/**
 * Throws unless the request's user has logged in, or proved anew who that is, within half an hour:
 * for calls that carry no proof themselves and make another way to come in.
 */
export async function requireRecent(deps: Deps, request: FastifyRequest): Promise<void> {
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

/** POST /api/user/proof: for half an hour, this session may do what wants a recent login. */
export const proveSession: Action = (api, deps) => {
  api.post(
    '/api/user/proof',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Prove anew who asks, for calls that want it to be recent and carry no proof',
        body: ProofOnly,
        response: { 200: Done },
      },
    },
    async (request) => {
      await prove(deps, request, request.body)
      await request.server.gate.sessions.prove(sessionOf(request))
      return done()
    },
  )
}
