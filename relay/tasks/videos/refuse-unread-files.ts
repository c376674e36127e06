import { hasFile, isBookkeeping, searchBudget } from '#relay/canonical/files-in-unread-members.ts'
import { type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { relayError } from '../../canonical/relay-error.ts'
import { TaskRequestError } from '../read-task-request-body.ts'

/**
 * Throws `TaskRequestError` if a member that is not sent to the vendor contains a picture, a video
 * or a sound. Without this file, the vendor would make another video, which the caller would have
 * to pay. `unread` has the names of the members, with the path of those inside another member.
 */
export function refuseUnreadFiles(sent: JsonObject, unread: readonly string[]): void {
  const budget = searchBudget()
  const param = unread.find(
    (path) =>
      !isBookkeeping(path.replace(/^metadata\./, '')) &&
      // `metadata` itself has members for the vendor, whereas metadata within it is for the caller.
      valuesAt(sent, path).some((value) => hasFile(path === 'metadata' ? '' : path, value, budget)),
  )
  if (param === undefined) return
  throw new TaskRequestError(relayError('parameter_not_supported', { param }))
}

/** Returns the values that `path` may refer to, because the name of a member may have a dot. */
function valuesAt(sent: JsonObject, path: string): readonly unknown[] {
  const dot = path.indexOf('.')
  const container = sent[path.slice(0, Math.max(dot, 0))]
  const inner = objectOrEmpty(Array.isArray(container) ? container[0] : container)
  return [sent[path], inner[path.slice(dot + 1)]]
}
