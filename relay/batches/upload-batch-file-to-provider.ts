import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import { parsedObject } from '#relay/canonical/json-values.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import { sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import type { SpooledFile } from '../uploads/spooled-file.ts'
import { providerForm } from '../uploads/write-form-for-provider.ts'
import type { RelayKey } from '../views/channel-view.ts'
import { PROVIDER_ID } from './batch-protocol.ts'
import { FILES_PATH, filePathOf } from './openai-batches.ts'

/**
 * The name of a file at its provider. `id` is the public id of the file, or of the batch for which
 * the gateway uploads the file. The name is unique, so that the file is found if the process ends
 * before it has recorded the provider's id. The caller's name for the file is not sent.
 */
export const uploadNameOf = (id: string): string => `${id}.jsonl`

/**
 * Uploads a file with the lines of a batch to a provider, which stores it under the given name.
 * Returns the provider's id of the file. If the upload failed or the response has no valid id,
 * returns the end of the attempt.
 */
export async function uploadFile(
  { batchOutbound }: { readonly batchOutbound: Pick<Outbound, 'via'> },
  { target }: RelayKey,
  { file, name }: { readonly file: SpooledFile; readonly name: string },
  signal: AbortSignal,
): Promise<AttemptEnd | { readonly upstreamId: string }> {
  const sent = new Map([['0', { ...file, name, type: 'application/jsonl' }]])
  const document = Buffer.from(JSON.stringify({ purpose: 'batch', file: { file: '0' } }))
  const form = providerForm(document, sent)
  const request = { method: 'POST', path: FILES_PATH, form } as const
  const end = await sendTaskRequest(batchOutbound, target, request, signal)
  if (end.kind !== 'plain') return end
  const id = parsedObject(end.body)?.id
  return typeof id === 'string' && PROVIDER_ID.test(id) ? { upstreamId: id } : end
}

const DELETION_MS = 10_000

/**
 * Deletes an uploaded file at the provider. Called if no batch was created from the file, or if the
 * batch could not be recorded.
 */
export async function deleteUploaded(
  batchOutbound: Pick<Outbound, 'via'>,
  { target }: RelayKey,
  upstreamId: string,
): Promise<void> {
  const request = { method: 'DELETE', path: filePathOf(upstreamId) } as const
  await sendTaskRequest(batchOutbound, target, request, AbortSignal.timeout(DELETION_MS))
}
