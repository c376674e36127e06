import type { Exchange } from '#relay/pipeline/exchange.ts'
import type { TaskDeps } from './task-deps.ts'

const HOST = /^[\w.-]{1,255}(?::\d{1,5})?$|^\[[\da-fA-F:]{2,45}\](?::\d{1,5})?$/

/**
 * Where this site is, for addresses in an answer: as an admin set it, or else as its caller
 * reached it. Nobody but that caller gets to see the latter.
 */
export function siteAddress({ views }: Pick<TaskDeps, 'views'>, { request }: Exchange): string {
  const { serverAddress } = views.options.options.tasks
  const host = request.headers.host ?? ''
  if (serverAddress !== '' || !HOST.test(host)) return serverAddress
  const isSecure = 'encrypted' in request.socket || request.headers['x-forwarded-proto'] === 'https'
  return `${isSecure ? 'https' : 'http'}://${host}`
}
