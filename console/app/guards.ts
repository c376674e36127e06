import type { QueryClient } from '@tanstack/react-query'
import { type LoaderFunction, redirect } from 'react-router-dom'
import { loginPath } from '#console/api/auth/return-to.ts'
import { storedUser } from '#console/api/session.ts'
import { statusQuery } from '#console/api/status/status.ts'
import { needAllWords, translate } from '#console/i18n/i18n.ts'
import { showError } from '#console/ui/toast.ts'

/** Until the site has its root account, every path is the setup page; afterwards none is. */
export function ifNotSetUp(client: QueryClient): LoaderFunction {
  return async ({ request }) => {
    const { pathname } = new URL(request.url)
    const isSetUp = await readSetup(client)
    if (isSetUp === false && pathname !== '/setup') return redirect('/setup')
    if (isSetUp === true && pathname === '/setup') return redirect('/')
    return null
  }
}

/**
 * Only looks for a stored user: the server judges every call anyway, and its 401 leads here too.
 */
export const onlyLoggedIn: LoaderFunction = async ({ request }) => {
  if (storedUser() !== null) {
    await needAllWords()
    return null
  }
  const { pathname, search } = new URL(request.url)
  return redirect(loginPath(`${pathname}${search}`, { isExpired: false }))
}

/** Undefined when the server can't be asked: the visitor is told, and the page stands. */
async function readSetup(client: QueryClient): Promise<boolean | undefined> {
  try {
    const status = await client.fetchQuery({ ...statusQuery, retry: false })
    return status.setup
  } catch (error) {
    showError(new Error(translate(isOffline(error) ? 'shell.unreachable' : 'shell.statusFailed')))
    return undefined
  }
}

const isOffline = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && error.status === 0
