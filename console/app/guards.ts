import { type QueryClient, QueryObserver } from '@tanstack/react-query'
import { type LoaderFunction, redirect } from 'react-router-dom'
import { ApiError } from '#console/api/api-error.ts'
import { loginPath } from '#console/api/auth/return-to.ts'
import { storedUser } from '#console/api/session.ts'
import { needAllWords, translate } from '#console/i18n/i18n.ts'
import { showError } from '#console/ui/toast.ts'
import { cachedStatus, loadNotice, statusQuery } from '../api/status.ts'

/**
 * Until the site has its root account, every path is the setup page; afterwards none is. Who was
 * here when it had one doesn't wait to hear it again: the fresh answer follows.
 */
export function ifNotSetUp(client: QueryClient, leaveForSetup: () => void): LoaderFunction {
  return async ({ request }) => {
    const { pathname } = new URL(request.url)
    if (pathname !== '/setup' && cachedStatus()?.setup === true) {
      followStatus(client, leaveForSetup)
      return null
    }
    const [isSetUp] = await Promise.all([readSetup(client), loadNotice(client)])
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

/** An observer of its own, so that no page that is left takes the question with it. */
function followStatus(client: QueryClient, leaveForSetup: () => void): void {
  const observer = new QueryObserver(client, statusQuery)
  let isTold = false
  observer.subscribe(({ data, failureReason }) => {
    if (failureReason !== null && !isTold) {
      isTold = true
      tellFailure(failureReason)
    }
    if (data === undefined) return
    observer.destroy()
    if (!data.setup) leaveForSetup()
  })
}

/** Undefined when the server can't be asked: the visitor is told, and the page stands. */
async function readSetup(client: QueryClient): Promise<boolean | undefined> {
  try {
    const status = await client.fetchQuery({ ...statusQuery, retry: false })
    return status.setup
  } catch (error) {
    tellFailure(error)
    return undefined
  }
}

/** The spec's words for an answer that says no, and for a call that throws. */
const tellFailure = (error: unknown): void =>
  showError(new Error(translate(isAnswered(error) ? 'shell.unreachable' : 'shell.statusFailed')))

const isAnswered = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 200 && error.status < 300
