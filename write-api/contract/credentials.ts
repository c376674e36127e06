import Type, { type Static } from 'typebox'

const code = Type.String({ maxLength: 64 })

const base64 = (maxLength: number) => Type.String({ maxLength, pattern: '^[A-Za-z0-9_-]*$' })

const signed = {
  id: base64(1_400),
  rawId: base64(1_400),
  type: Type.Literal('public-key'),
  authenticatorAttachment: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  clientExtensionResults: Type.Optional(Type.Object({})),
}

/** What the browser answers when a passkey was made. */
export const PasskeyMade = Type.Object({
  ...signed,
  response: Type.Object({
    clientDataJSON: base64(4_000),
    attestationObject: base64(20_000),
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 30 }), { maxItems: 10 })),
  }),
})
export type PasskeyMade = Static<typeof PasskeyMade>

/** What the browser answers when a passkey was used. */
export const PasskeyShown = Type.Object({
  ...signed,
  response: Type.Object({
    clientDataJSON: base64(4_000),
    authenticatorData: base64(4_000),
    signature: base64(4_000),
    userHandle: Type.Optional(Type.Union([base64(200), Type.Null()])),
  }),
})
export type PasskeyShown = Static<typeof PasskeyShown>

/**
 * Shows once more who asks, before something that others come in by is changed: the password, a
 * code of the authenticator app, a recovery code, or one of the own passkeys.
 */
const Proof = {
  password: Type.Optional(Type.String({ maxLength: 512 })),
  code: Type.Optional(code),
  /** For the challenge of `POST /api/user/passkeys/proof`. */
  passkey: Type.Optional(PasskeyShown),
}

export const ProofOnly = Type.Object(Proof)
export type ProofOnly = Static<typeof ProofOnly>

/** What an authenticator app is set up with; confirmed within ten minutes. */
export const TotpOffer = Type.Object({
  /** Base 32, to be typed in. */
  secret: Type.String(),
  /** `otpauth://`, for a QR code. */
  uri: Type.String(),
})
export type TotpOffer = Static<typeof TotpOffer>

export const ConfirmTotp = Type.Object({ code })
export type ConfirmTotp = Static<typeof ConfirmTotp>

/** Told once. Empty where the user has codes already. */
export const RecoveryCodes = Type.Object({ recovery_codes: Type.Array(Type.String()) })
export type RecoveryCodes = Static<typeof RecoveryCodes>

/** What the browser's WebAuthn call is given, as `@simplewebauthn/browser` takes it. */
export const PasskeyOptions = Type.Object({ options: Type.Unknown() })
export type PasskeyOptions = Static<typeof PasskeyOptions>

const name = Type.String({ maxLength: 60 })

export const AddPasskey = Type.Object({ name, passkey: PasskeyMade })
export type AddPasskey = Static<typeof AddPasskey>

const id = Type.Integer({ minimum: 1, maximum: 999999999999999 })

export const RenamePasskey = Type.Object({ id, name })
export type RenamePasskey = Static<typeof RenamePasskey>

export const RemovePasskey = Type.Object({ id, ...Proof })
export type RemovePasskey = Static<typeof RemovePasskey>

const ticket = Type.String({ maxLength: 100 })

/** The second step of a login: a code, or a passkey. */
export const SecondStep = Type.Object({
  ticket,
  code: Type.Optional(code),
  passkey: Type.Optional(PasskeyShown),
})
export type SecondStep = Static<typeof SecondStep>

export const TicketOnly = Type.Object({ ticket })
export type TicketOnly = Static<typeof TicketOnly>

export const PasskeyLogin = Type.Object({ passkey: PasskeyShown })
export type PasskeyLogin = Static<typeof PasskeyLogin>
