import Type, { type Static } from 'typebox'
import { Id } from '#read-api/contract/request-parameters.ts'
import { Done, Envelope } from '#read-api/contract/response-envelope.ts'

const code = Type.String({ maxLength: 64 })

const base64Url = (maxLength: number) => Type.String({ maxLength, pattern: '^[A-Za-z0-9_-]*$' })

const publicKeyCredential = {
  id: base64Url(1_400),
  rawId: base64Url(1_400),
  type: Type.Literal('public-key'),
  authenticatorAttachment: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  clientExtensionResults: Type.Optional(Type.Object({})),
}

export const PasskeyRegistration = Type.Object({
  ...publicKeyCredential,
  response: Type.Object({
    clientDataJSON: base64Url(4_000),
    attestationObject: base64Url(20_000),
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 30 }), { maxItems: 10 })),
  }),
})
export type PasskeyRegistration = Static<typeof PasskeyRegistration>

export const PasskeyAssertion = Type.Object({
  ...publicKeyCredential,
  response: Type.Object({
    clientDataJSON: base64Url(4_000),
    authenticatorData: base64Url(4_000),
    signature: base64Url(4_000),
    userHandle: Type.Optional(Type.Union([base64Url(200), Type.Null()])),
  }),
})
export type PasskeyAssertion = Static<typeof PasskeyAssertion>

/**
 * Proof of identity for a sensitive action: the password, a code of the authenticator app, a
 * recovery code or a passkey.
 */
const Proof = {
  password: Type.Optional(Type.String({ maxLength: 512 })),
  code: Type.Optional(code),
  /** The signature of a passkey for the challenge from `POST /api/user/passkeys/proof`. */
  passkey: Type.Optional(PasskeyAssertion),
}

export const ProofOnly = Type.Object(Proof)
export type ProofOnly = Static<typeof ProofOnly>

/**
 * A new secret for an authenticator app. The user must confirm it with a code within ten minutes.
 */
export const NewTotpSecret = Type.Object({
  /** The secret in base 32, for manual entry. */
  secret: Type.String(),
  /** An `otpauth://` URI, for a QR code. */
  uri: Type.String(),
})
export type NewTotpSecret = Static<typeof NewTotpSecret>

const ConfirmTotp = Type.Object({ code })

/**
 * New recovery codes. No later response contains them. If a second factor was added and the user
 * already had another one, the list is empty.
 */
const RecoveryCodes = Type.Object({ recovery_codes: Type.Array(Type.String()) })

/** The options of the browser's WebAuthn call, in the format of `@simplewebauthn/browser`. */
export const PasskeyOptions = Type.Object({ options: Type.Unknown() })
export type PasskeyOptions = Static<typeof PasskeyOptions>

const name = Type.String({ maxLength: 60 })

export const AddPasskey = Type.Object({ name, passkey: PasskeyRegistration })
export type AddPasskey = Static<typeof AddPasskey>

const RenamePasskey = Type.Object({ id: Id, name })

const RemovePasskey = Type.Object({ id: Id, ...Proof })

const ticket = Type.String({ maxLength: 100 })

/** The second step of a login, with a code or a passkey's signature. */
export const SecondStep = Type.Object({
  ticket,
  code: Type.Optional(code),
  passkey: Type.Optional(PasskeyAssertion),
})
export type SecondStep = Static<typeof SecondStep>

export const TicketOnly = Type.Object({ ticket })
export type TicketOnly = Static<typeof TicketOnly>

export const PasskeyLogin = Type.Object({ passkey: PasskeyAssertion })
export type PasskeyLogin = Static<typeof PasskeyLogin>

export const credentialActions = {
  'GET /api/user/token': {
    summary: 'Reset the system access token; the new one is valid for 90 days',
    response: { 200: Envelope(Type.String()) },
  },
  'DELETE /api/user/token': { summary: 'Revoke the system access token', response: { 200: Done } },
  'POST /api/user/passkeys/begin': {
    summary: 'Begin to add a passkey',
    body: ProofOnly,
    response: { 200: Envelope(PasskeyOptions) },
  },
  'POST /api/user/passkeys': {
    summary: 'Add a passkey',
    body: AddPasskey,
    response: { 200: Envelope(RecoveryCodes) },
  },
  'PUT /api/user/passkeys': {
    summary: 'Rename a passkey',
    body: RenamePasskey,
    response: { 200: Done },
  },
  'POST /api/user/passkeys/remove': {
    summary: 'Remove a passkey',
    body: RemovePasskey,
    response: { 200: Done },
  },
  'POST /api/user/totp/begin': {
    summary: 'Create a secret for an authenticator app',
    body: ProofOnly,
    response: { 200: Envelope(NewTotpSecret) },
  },
  'POST /api/user/totp': {
    summary: 'Enable the authenticator app',
    body: ConfirmTotp,
    response: { 200: Envelope(RecoveryCodes) },
  },
  'POST /api/user/totp/disable': {
    summary: 'Disable the authenticator app',
    body: ProofOnly,
    response: { 200: Done },
  },
  'POST /api/user/passkeys/proof': {
    summary: 'Begin to prove your identity with a passkey',
    response: { 200: Envelope(PasskeyOptions) },
  },
  'POST /api/user/proof': {
    summary: 'Prove your identity for requests that require a recent login and include no proof',
    body: ProofOnly,
    response: { 200: Done },
  },
  'POST /api/user/recovery_codes': {
    summary: 'Replace the recovery codes',
    body: ProofOnly,
    response: { 200: Envelope(RecoveryCodes) },
  },
}
