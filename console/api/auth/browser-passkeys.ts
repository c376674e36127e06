import { call } from '#console/api/client.ts'
import { translate } from '#console/i18n/i18n.ts'
import type {
  PasskeyAssertion,
  PasskeyOptions,
  PasskeyRegistration,
  ProofOnly,
} from '#write-api/contract/credentials.ts'

/**
 * Reports whether the browser supports passkeys on this page. Browsers support them only with TLS
 * or on localhost, and never if the host is an IP address.
 */
export function arePasskeysSupported(): boolean {
  const isAddress = /^(\d+\.){3}\d+$|:/.test(window.location.hostname)
  return window.isSecureContext && !isAddress && 'PublicKeyCredential' in window
}

/**
 * Asks the user for a passkey in the browser's dialog. Throws a translated error if the user
 * cancels or the browser reports another failure.
 */
export async function promptForPasskey({ options }: PasskeyOptions): Promise<PasskeyAssertion> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  return (await startAuthentication({ optionsJSON: options as never }).catch(
    throwTranslated,
  )) as never
}

export const promptForPasskeyProof = async (): Promise<ProofOnly> => ({
  passkey: await promptForPasskey(await call('POST /api/user/passkeys/proof')),
})

export async function createPasskey({ options }: PasskeyOptions): Promise<PasskeyRegistration> {
  const { startRegistration } = await import('@simplewebauthn/browser')
  return (await startRegistration({ optionsJSON: options as never }).catch(
    throwTranslated,
  )) as never
}

function throwTranslated(error: unknown): never {
  const isDuplicate = error instanceof Error && error.name === 'InvalidStateError'
  throw new Error(translate(isDuplicate ? 'auth.passkeyExists' : 'auth.passkeyCancelled'))
}
