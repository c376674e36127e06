import type { Status } from '#read-api/contract/status.ts'

export type SiteLink = {
  readonly id: 'home' | 'console' | 'pricing' | 'docs' | 'about'
  /** The path of a page of this site, or the URL of another site. */
  readonly to: string
  readonly isElsewhere: boolean
}

export function siteLinks(status: Status | undefined): SiteLink[] {
  const docs = status?.docs_link ?? ''
  const internalLink = (id: SiteLink['id'], to: string): SiteLink => ({
    id,
    to,
    isElsewhere: false,
  })
  return [
    internalLink('home', '/'),
    internalLink('console', '/app/dashboard'),
    internalLink('pricing', '/pricing'),
    ...(/^https?:\/\//.test(docs) ? [{ id: 'docs', to: docs, isElsewhere: true } as const] : []),
    internalLink('about', '/about'),
  ]
}
