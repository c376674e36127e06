import { isRelayError, type RelayError } from '../canonical/relay-error.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import type { BodyMemoryShare } from '../limits/body-memory.ts'
import { isForm, readForm } from '../uploads/read-form.ts'
import type { SpooledFile } from '../uploads/spooled-file.ts'
import type { CallRequest } from './http-request-and-response-types.ts'
import { CopiesOfBody } from './memory-of-body-copies.ts'
import { readBody } from './read-body.ts'
import type { RelayDeps } from './relay-deps.ts'

/**
 * A request whose body has been received. If the body was a form, `body` is a document that
 * represents the form, and `files` contains the form's files.
 */
export type ReceivedBody = {
  readonly body: Buffer
  /** The format that reads `body`. For a form, it can differ from the format of the endpoint. */
  readonly format: WireFormat
  readonly files: ReadonlyMap<string, SpooledFile>
  /** Counts the copies of the body that are made for providers. */
  readonly copies: CopiesOfBody
  /** Releases the memory and the files. It must be called once. */
  readonly release: () => void
}

const NO_FILES: ReadonlyMap<string, SpooledFile> = new Map()

/**
 * Receives the body of a request to an endpoint with the wire format `format`. If an error is
 * returned, nothing must be released.
 */
export async function receiveBodyOrForm(
  deps: Pick<RelayDeps, 'bodyMemory' | 'uploads'>,
  request: CallRequest,
  owner: BodyMemoryShare,
  format: WireFormat,
): Promise<ReceivedBody | RelayError> {
  const { form } = format
  if (form !== undefined && (!form.isJsonAccepted || isForm(request))) {
    const received = await readForm(request, deps, owner, form)
    const ofForms = format.ofForms?.() ?? format
    if (isRelayError(received)) return received
    const copies = new CopiesOfBody(deps.bodyMemory, owner)
    const release = (): void => {
      copies.release()
      received.release()
    }
    return { ...received, body: received.document, format: ofForms, copies, release }
  }
  const body = await readBody(request, deps.bodyMemory, owner)
  if (isRelayError(body)) return body
  const copies = new CopiesOfBody(deps.bodyMemory, owner)
  const release = (): void => {
    copies.release()
    deps.bodyMemory.giveBack(body.length)
    deps.bodyMemory.release(owner, body.length)
  }
  return { body, format, files: NO_FILES, copies, release }
}
