import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { sitePageQuery } from '#console/api/pages/site-page.ts'
import { useStatus } from '#console/api/status/status.ts'
import { useUser } from '#console/api/use-user.ts'
import { Icon, type IconName } from '#console/ui/icons.tsx'
import { usePageTitle, useSiteName } from '#console/ui/page.tsx'
import { RichText } from '#console/ui/rich/rich-text.tsx'
import { SdkSnippet } from './sdk-snippet.tsx'

const POINTS = [
  { name: 'exact', icon: 'check' },
  { name: 'live', icon: 'zap' },
  { name: 'yours', icon: 'key' },
] as const satisfies readonly { name: string; icon: IconName }[]

/** The operator's own page, or the one that comes along. */
export function HomePage(): ReactElement | null {
  const { t } = useTranslation()
  const own = useQuery(sitePageQuery('home_page_content'))
  const name = useSiteName()
  usePageTitle(t('home.title'))
  if (own.isPending) return null
  if ((own.data ?? '') === '') return <DefaultHome />
  return (
    <article className="tg-prose-page">
      <h1 className="tg-visually-hidden">{name}</h1>
      <RichText text={own.data ?? ''} title={t('home.title')} />
    </article>
  )
}

function DefaultHome(): ReactElement {
  const { t } = useTranslation()
  const user = useUser()
  const status = useStatus()
  return (
    <div className="tg-home">
      <section className="tg-hero">
        <div>
          <h1>{t('home.headline')}</h1>
          <p className="tg-hero-lead">{t('home.lead')}</p>
          <div className="tg-actions">
            <Link className="tg-link-button" to={user === null ? '/login' : '/app/dashboard'}>
              {user === null ? t('home.signIn') : t('home.openConsole')}
              <Icon name="arrowRight" />
            </Link>
          </div>
        </div>
        <SdkSnippet address={status?.server_address || window.location.origin} />
      </section>
      <ul className="tg-points">
        {POINTS.map(({ name, icon }) => (
          <li key={name}>
            <Icon name={icon} size={18} />
            <h2>{t(`home.${name}Title`)}</h2>
            <p>{t(`home.${name}Body`)}</p>
          </li>
        ))}
      </ul>
    </div>
  )
}
