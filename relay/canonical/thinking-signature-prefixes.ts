/**
 * If a call was converted to another format, the gateway adds a prefix to each signature and each
 * piece of encrypted content in the model's thinking. The prefix shows that a provider of another
 * format made the signature or content. When the caller sends a prefixed text back, the gateway
 * forwards the text only to a provider of the format that made it, because any other provider would
 * reject it.
 */

/** The prefix of a signature that Gemini made. */
export const GEMINI_SIGNATURE = 'gemini:'
/** The prefix of content that a provider of OpenAI's Responses API encrypted. */
export const OPENAI_SIGNATURE = 'openai:'
/** The beginning of a signature that is an element of OpenRouter's `reasoning_details` as JSON. */
export const DETAIL_AS_JSON = '{"type":"reasoning.'
/**
 * The beginning of a member's value that contains a signature from a provider of another format.
 * The beginning is `provider:` in base64, because client libraries require that the value is
 * base64.
 */
export const WRAPPED_SIGNATURE = 'cHJvdmlkZXI6'

/**
 * A value that Gemini documents for tool calls without a signature, such as a call by another
 * provider's model. Gemini 3 refuses a turn whose first tool call has no signature.
 */
export const UNCHECKED_SIGNATURE = 'skip_thought_signature_validator'

const OF_OTHERS = [GEMINI_SIGNATURE, OPENAI_SIGNATURE, DETAIL_AS_JSON, WRAPPED_SIGNATURE]

/** Reports whether a signature was made by a provider of another format than Anthropic's. */
export const isOfOtherFormat = (signature: string): boolean =>
  OF_OTHERS.some((beginning) => signature.startsWith(beginning))
