import type { FastifyRequest } from 'fastify'
import type { Passkey } from '#domain/credentials/state.ts'
import type { CommandContext } from '#infra/event-store/actors-port.ts'
import type { PasskeyAssertion } from '#write-api/contract/credentials.ts'
import type { Deps } from '../action.ts'
import { credentialsError } from './credentials-errors.ts'
import { changeCredentials, credentialsOf } from './credentials-of.ts'
import {
  openPasskey,
  type PasskeyRecord,
  type PasskeySite,
  passkeySite,
  takeChallenge,
  webauthn,
} from './passkeys.ts'

type Shown = {
  readonly userId: number
  readonly passkey: PasskeyAssertion
  /** What its challenge was given for. */
  readonly purpose: string
  /** Whether the person has to have unlocked it: where nothing else shows who it is. */
  readonly isSoleFactor: boolean
}

/** Throws `PasskeyFailed` unless it is a passkey of the user's, used for this very purpose. */
export async function verifyPasskey(
  deps: Deps,
  request: FastifyRequest,
  shown: Shown,
  context: CommandContext,
): Promise<void> {
  const { userId } = shown
  const { vault } = deps.core
  const site = await passkeySite(deps, request)
  const hash = vault.keyedHash('passkey', shown.passkey.id)
  const { passkeys } = await credentialsOf(deps, userId)
  const found = [...passkeys].find(([, { credentialHash }]) => credentialHash === hash)
  const record = found === undefined ? null : await openPasskey(vault, userId, found[1] as Passkey)
  if (found === undefined || record?.site !== site.id) throw credentialsError('PasskeyFailed')
  const counter = await checkedCounter(deps, site, shown, record)
  await changeCredentials(
    deps,
    { type: 'UsePasskey', userId, passkeyId: found[0], counter },
    context,
  )
}

/** The counter that it signed. */
async function checkedCounter(
  deps: Deps,
  site: PasskeySite,
  { passkey, purpose, isSoleFactor }: Shown,
  { id, publicKey }: PasskeyRecord,
): Promise<number> {
  try {
    const { verifyAuthenticationResponse } = await webauthn()
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...passkey, clientExtensionResults: {} } as never,
      expectedChallenge: takeChallenge(deps, purpose),
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      // The counter is for the domain to judge: 0 lets every one pass here.
      credential: {
        id,
        publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
        counter: 0,
      },
      requireUserVerification: isSoleFactor,
    })
    if (!verified) throw new Error('not verified')
    return authenticationInfo.newCounter
  } catch (error) {
    deps.core.log.debug({ err: error }, 'a passkey was refused')
    throw credentialsError('PasskeyFailed')
  }
}
