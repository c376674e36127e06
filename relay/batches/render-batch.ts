import { renderBatch } from './anthropic-batches.ts'
import type { StoredBatch } from './batch-store.ts'
import { type GeminiBatchRequest, renderGeminiBatch } from './gemini-batches.ts'
import { type OpenAiBatchRequest, renderOpenAiBatch } from './openai-batches.ts'
import type { BatchDeps } from './settle-batch.ts'

/** Describes a batch of Anthropic's API until a description of the provider is stored. */
const UNKNOWN = {
  processing_status: 'in_progress',
  request_counts: { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
  ...{ ended_at: null, created_at: null, expires_at: null, archived_at: null },
  cancel_initiated_at: null,
}

type BatchFacts = Pick<StoredBatch, 'api' | 'batch' | 'isSettled' | 'submittedAt'>

/** The decrypted members `request` and `object` of a `StoredBatch`. */
type BatchContents = { readonly request: unknown; readonly object: unknown }

/**
 * Returns the JSON object that describes a batch to the caller, in the format of the API in which
 * the batch was submitted.
 */
export async function renderStoredBatch(
  { vault, views }: BatchDeps,
  stored: StoredBatch,
): Promise<object> {
  const open = async (sealed: StoredBatch['object']): Promise<unknown> => {
    const text = sealed === null ? null : await vault.open(stored.userId, sealed)
    return text === null ? null : JSON.parse(text)
  }
  const [request, object] = [await open(stored.request), await open(stored.object)]
  return renderDescription({ views }, stored, { request, object })
}

/** Returns the same JSON object as `renderStoredBatch`, for contents that are already decrypted. */
export function renderDescription(
  { views }: Pick<BatchDeps, 'views'>,
  facts: BatchFacts,
  { request, object }: BatchContents,
): object {
  const { api, batch, isSettled, submittedAt } = facts
  const described = object as Readonly<Record<string, unknown>> | null
  if (api === 'openai') {
    return renderOpenAiBatch(facts, request as OpenAiBatchRequest | null, described)
  }
  if (api === 'gemini') {
    return renderGeminiBatch(facts, request as GeminiBatchRequest | null, described)
  }
  const { serverAddress } = views.options.options.tasks
  const unknown = { ...UNKNOWN, created_at: new Date(submittedAt).toISOString() }
  return renderBatch(batch, { ...unknown, ...described }, isSettled, serverAddress)
}
