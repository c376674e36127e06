import { type ReactNode, useEffect } from 'react'
import { useStatus } from '#console/api/status.ts'
import { announce } from '../messages/screen-reader-announcer.tsx'

export const DEFAULT_SITE_NAME = 'Tallygate'

export function useSiteName(): string {
  return useStatus()?.system_name || DEFAULT_SITE_NAME
}

/** Sets the title of the browser tab and announces the page to screen readers. */
export function usePageTitle(title: string): void {
  const siteName = useSiteName()
  useEffect(() => {
    document.title = `${title} · ${siteName}`
  }, [title, siteName])
  useEffect(() => announce(title), [title])
}

export function Page(props: {
  title: string
  lead?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  usePageTitle(props.title)
  return (
    <div className="tg-page">
      <header className="tg-page-head">
        <div>
          <h1>{props.title}</h1>
          {props.lead === undefined ? null : <p className="tg-page-lead">{props.lead}</p>}
        </div>
        {props.actions === undefined ? null : <div className="tg-actions">{props.actions}</div>}
      </header>
      {props.children}
    </div>
  )
}
