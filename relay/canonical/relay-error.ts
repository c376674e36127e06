import type { CodedError } from '#domain/shared/coded-error.ts'

/** The codes of the errors that the gateway itself returns to callers. */
export type RelayErrorCode =
  | 'invalid_request'
  | 'empty_body'
  | 'invalid_json'
  | 'json_incomplete'
  | 'json_not_object'
  | 'json_too_deep'
  | 'json_too_long'
  | 'json_too_wide'
  | 'json_too_many_objects'
  | 'arguments_too_large'
  | 'json_name_too_long'
  | 'invalid_text'
  | 'invalid_utf8'
  | 'duplicate_key'
  | 'ambiguous_key'
  | 'missing_parameter'
  | 'invalid_parameter'
  | 'integer_out_of_range'
  | 'value_not_possible'
  | 'list_too_long'
  | 'text_missing'
  | 'text_empty'
  | 'parameter_not_supported'
  | 'string_above_max_length'
  | 'request_too_large'
  | 'request_too_large_to_convert'
  | 'unsupported_media_type'
  | 'form_expected'
  | 'invalid_form'
  | 'form_too_long'
  | 'unsupported_content_encoding'
  | 'invalid_content_encoding'
  | 'compressed_too_far'
  | 'request_incomplete'
  | 'not_logged_in'
  | 'session_required'
  | 'session_ended'
  | 'password_not_own'
  | 'cross_site'
  | 'missing_key'
  | 'invalid_key'
  | 'token_disabled'
  | 'token_expired'
  | 'token_exhausted'
  | 'user_disabled'
  | 'ip_not_allowed'
  | 'origin_not_allowed'
  | 'model_not_allowed'
  | 'group_not_allowed'
  | 'channel_not_allowed'
  | 'model_unpriced'
  | 'model_not_found'
  | 'invalid_in_format'
  | 'not_convertible'
  | 'duplicate_tool_name'
  | 'schema_too_large'
  | 'required_tool_missing'
  | 'needs_provider_tool'
  | 'webrtc_not_supported'
  | 'transcription_sessions_not_supported'
  | 'file_purpose_not_supported'
  | 'stored_input'
  | 'repeated_item'
  | 'response_not_found'
  | 'response_not_cancellable'
  | 'input_items_not_stored'
  | 'previous_response_not_found'
  | 'previous_response_not_stored'
  | 'item_not_stored'
  | 'provider_tool_in_input'
  | 'context_length_exceeded'
  | 'not_found'
  | 'invalid_path'
  | 'method_not_allowed'
  | 'websocket_required'
  | 'wrong_base_url'
  | 'insufficient_quota'
  | 'balance_spent'
  | 'output_limit_ignored'
  | 'idempotency_in_progress'
  | 'idempotency_replayed'
  | 'idempotency_submitted'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'too_many_failed_keys'
  | 'too_many_concurrent'
  | 'overloaded'
  | 'draining'
  | 'no_channel'
  | 'model_not_at_endpoint'
  | 'drawing_model_not_at_endpoint'
  | 'music_model_not_at_endpoint'
  | 'no_batch_channel'
  | 'batch_not_found'
  | 'batch_not_ended'
  | 'batch_not_accepted'
  | 'batch_above_limit'
  | 'channel_deleted'
  | 'file_channel_off'
  | 'key_replaced'
  | 'file_not_found'
  | 'file_without_lines'
  | 'file_has_bom'
  | 'line_not_json'
  | 'line_not_object'
  | 'line_too_long'
  | 'too_many_lines'
  | 'custom_id_repeated'
  | 'too_many_files'
  | 'file_storage_full'
  | 'tasks_off'
  | 'task_not_found'
  | 'task_not_finished'
  | 'task_step_running'
  | 'task_step_too_late'
  | 'video_option_invalid'
  | 'too_many_pictures'
  | 'video_not_ready'
  | 'video_unavailable'
  | 'video_expired'
  | 'video_link_expired'
  | 'file_fetch_failed'
  | 'notify_refused'
  | 'image_unavailable'
  | 'channels_busy'
  | 'sensitive_prompt'
  | 'sensitive_answer'
  | 'store_unavailable'
  | 'upstream_error'
  | 'upstream_account'
  | 'upstream_timeout'
  | 'upstream_unreachable'
  | 'upstream_incomplete'
  | 'upstream_format'
  | 'upstream_no_image'
  | 'image_blocked'
  | 'upstream_too_large'
  | 'internal_error'

/** An error that the gateway itself returns to a caller. */
export type RelayError = CodedError<RelayErrorCode, RelayErrorParams> & {
  /** The HTTP status of the response, if it is not the status in `RELAY_ERRORS`. */
  readonly status?: number
}

type RelayErrorParams = {
  /** The field of the request that caused the error. */
  readonly param?: string
  /**
   * The model, group, id or limit that the message names. `subject` is never a text from a
   * provider.
   */
  readonly subject?: string
}

/**
 * Creates a relay error. `retryAfter` is the number of seconds after which the caller may retry.
 */
export const relayError = (
  code: RelayErrorCode,
  { retryAfter, ...params }: RelayErrorParams & { readonly retryAfter?: number } = {},
): RelayError => (retryAfter === undefined ? { code, params } : { code, params, retryAfter })

/** Creates the error for a member of the request with an invalid value. */
export const invalidParameter = (param: string): RelayError =>
  relayError('invalid_parameter', { param })

/** Creates the error for a member whose value is none of `values`. */
export const notOneOf = (param: string, values: Iterable<string>): RelayError =>
  relayError('value_not_possible', { param, subject: [...values].join(', ') })

/** Creates the error for a required member that is missing in the request. */
export const missingParameter = (param: string): RelayError =>
  relayError('missing_parameter', { param })

/** Returns the error with another HTTP status. If `status` is null, returns the error unchanged. */
export const withStatus = (error: RelayError, status: number | null): RelayError =>
  status === null ? error : { ...error, status }

export const isRelayError = (outcome: object): outcome is RelayError =>
  'code' in outcome && 'params' in outcome

/**
 * The `type` of an error in the response. The exception that a client library raises depends on
 * this type.
 */
type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'insufficient_quota'
  | 'rate_limit_error'
  | 'upstream_error'
  | 'server_error'

/** How a relay error is sent: its HTTP status, its type, and its message in two languages. */
export type HttpError = {
  readonly status: number
  readonly type: ErrorType
  /** The English message, in which `{param}` and `{subject}` are placeholders. */
  readonly en: string
  readonly zh: string
  /**
   * The code in the response, if it is not the key of the error in the catalogue. In this case, it
   * is the code of a more general error that clients know.
   */
  readonly code?: string
}

export const httpError = (status: number, type: ErrorType, en: string, zh: string): HttpError => ({
  status,
  type,
  en,
  zh,
})
