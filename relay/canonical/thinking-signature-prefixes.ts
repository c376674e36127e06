/**
 * Signatures and encrypted content of thinking name the format of the provider that made them, once
 * a call was converted. A provider answers a signature that it did not make with an error.
 */

/** The prefix of a signature that Gemini made. */
export const GEMINI_SIGNATURE = 'gemini:'
/** The prefix of content that a provider of OpenAI's Responses API encrypted. */
export const OPENAI_SIGNATURE = 'openai:'
/** The beginning of an element of OpenRouter's `reasoning_details` that is kept as JSON. */
export const DETAIL_AS_JSON = '{"type":"reasoning.'
/**
 * The beginning of a member in which a caller keeps what another format's provider made. It is the
 * base64 form of `provider:`, because SDKs require base64 there.
 */
export const WRAPPED_SIGNATURE = 'cHJvdmlkZXI6'

/**
 * A documented value for a call that has no signature, such as a call by another provider's model.
 * Gemini 3 refuses the first call of a turn without a signature.
 */
export const UNCHECKED_SIGNATURE = 'skip_thought_signature_validator'

const OF_OTHERS = [GEMINI_SIGNATURE, OPENAI_SIGNATURE, DETAIL_AS_JSON, WRAPPED_SIGNATURE]

/** Reports whether a provider of another format than Anthropic's made a signature. */
export const isOfOtherFormat = (signature: string): boolean =>
  OF_OTHERS.some((beginning) => signature.startsWith(beginning))
