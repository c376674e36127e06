import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { sitePageQuery } from '#console/api/notice-and-site-pages.ts'
import { useUser } from '#console/api/session.ts'
import { useSiteAddress } from '#console/api/status.ts'
import { setupText } from '#console/ui/client-setup/clients.ts'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { Icon, type IconName } from '#console/ui/elements/icons.tsx'
import { usePageTitle, useSiteName } from '#console/ui/layout/page.tsx'
import { Tabs } from '#console/ui/layout/tabs.tsx'
import { RichText } from '#console/ui/rich/rich-text.tsx'

const TABS = [
  { id: 'openai-python', title: 'Python' },
  { id: 'openai-typescript', title: 'TypeScript' },
  { id: 'curl-chat', title: 'cURL' },
] as const

const EXAMPLE = { name: '', key: 'sk-…', model: 'gpt-4o-mini', smallModel: '' }

function SdkSnippet() {
  const { t } = useTranslation()
  const [template, setTemplate] = useState<(typeof TABS)[number]['id']>('openai-python')
  const text = setupText(template, { ...EXAMPLE, site: useSiteAddress() })
  return (
    <section className="tg-snippet" aria-label={t('home.snippetTitle')}>
      <header>
        <div>
          <h2>{t('home.snippetTitle')}</h2>
          <p>{t('home.snippetLead')}</p>
        </div>
        <CopyButton text={text} label={t('ui.copy')} />
      </header>
      <Tabs label={t('home.snippetTitle')} tabs={TABS} selected={template} onSelect={setTemplate}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must scroll it */}
        <pre tabIndex={0}>
          <code>{text}</code>
        </pre>
      </Tabs>
    </section>
  )
}

const POINTS = [
  { name: 'exact', icon: 'check' },
  { name: 'live', icon: 'zap' },
  { name: 'yours', icon: 'key' },
] as const satisfies readonly { name: string; icon: IconName }[]

export function HomePage() {
  const { t } = useTranslation()
  const ownContent = useQuery(sitePageQuery('home_page_content'))
  const name = useSiteName()
  usePageTitle(t('shell.home'))
  if (ownContent.isPending) return null
  if ((ownContent.data ?? '') === '') return <DefaultHome />
  return (
    <article className="tg-prose-page">
      <h1 className="tg-visually-hidden">{name}</h1>
      <RichText text={ownContent.data ?? ''} title={t('shell.home')} />
    </article>
  )
}

function DefaultHome() {
  const { t } = useTranslation()
  const user = useUser()
  return (
    <div className="tg-home">
      <section className="tg-hero">
        <div>
          <h1>{t('home.headline')}</h1>
          <p className="tg-hero-lead">{t('home.lead')}</p>
          <div className="tg-actions">
            <Link className="tg-link-button" to={user === null ? '/login' : '/app/dashboard'}>
              {user === null ? t('shell.login') : t('home.openConsole')}
              <Icon name="arrowRight" />
            </Link>
          </div>
        </div>
        <SdkSnippet />
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
