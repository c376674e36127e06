import { translate } from '#console/i18n/i18n.ts'
import type {
  PasskeyAssertion,
  PasskeyOptions,
  PasskeyRegistration,
} from '#write-api/contract/credentials.ts'

/** Whether this browser makes passkeys here: over TLS or on this machine, and by a name. */
export function arePasskeysPossible(): boolean {
  const isAddress = /^(\d+\.){3}\d+$|:/.test(window.location.hostname)
  return window.isSecureContext && !isAddress && 'PublicKeyCredential' in window
}

/** Asks for a passkey; throws with words to show when the person stops it. */
export async function showPasskey({ options }: PasskeyOptions): Promise<PasskeyAssertion> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  return (await startAuthentication({ optionsJSON: options as never }).catch(explained)) as never
}

export async function makePasskey({ options }: PasskeyOptions): Promise<PasskeyRegistration> {
  const { startRegistration } = await import('@simplewebauthn/browser')
  return (await startRegistration({ optionsJSON: options as never }).catch(explained)) as never
}

function explained(error: unknown): never {
  const isKnown = error instanceof Error && error.name === 'InvalidStateError'
  throw new Error(translate(isKnown ? 'auth.passkeyKnown' : 'auth.passkeyStopped'))
}
