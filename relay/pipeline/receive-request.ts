import { isRelayError, type RelayError } from '../canonical/relay-error.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import type { BodyOwner } from '../limits/body-memory.ts'
import { isForm, readForm } from '../uploads/read-form.ts'
import type { SpooledFile } from '../uploads/spooled-file.ts'
import type { CallRequest } from './http-request-and-response-types.ts'
import { readBody } from './read-body.ts'
import type { RelayDeps } from './relay-deps.ts'

/** The body of a request, which for a form is the document that stands for it. */
export type ReceivedRequest = {
  readonly body: Buffer
  /** The format with which the body is read. */
  readonly format: WireFormat
  readonly files: ReadonlyMap<string, SpooledFile>
  /** Releases the memory and the files. It must be called once. */
  readonly release: () => void
}

const NO_FILES: ReadonlyMap<string, SpooledFile> = new Map()

/** Reads the body of a request in the format. After an error, nothing must be released. */
export async function receiveRequest(
  deps: Pick<RelayDeps, 'bodies' | 'uploads'>,
  request: CallRequest,
  owner: BodyOwner,
  format: WireFormat,
): Promise<ReceivedRequest | RelayError> {
  const { form } = format
  if (form !== undefined && (!form.isJsonAccepted || isForm(request))) {
    const received = await readForm(request, deps, owner, form)
    const ofForms = format.ofForms?.() ?? format
    if (isRelayError(received)) return received
    return { ...received, body: received.document, format: ofForms }
  }
  const body = await readBody(request, deps.bodies, owner)
  if (isRelayError(body)) return body
  const release = (): void => {
    deps.bodies.giveBack(body.length)
    deps.bodies.release(owner, body.length)
  }
  return { body, format, files: NO_FILES, release }
}
