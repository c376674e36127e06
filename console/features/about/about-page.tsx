import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { sitePageQuery } from '#console/api/notice-and-site-pages.ts'
import { useStatus } from '#console/api/status.ts'
import { LabelledValues } from '#console/ui/elements/labelled-value.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { DEFAULT_SITE_NAME, usePageTitle, useSiteName } from '#console/ui/layout/page.tsx'
import { RichText } from '#console/ui/rich/rich-text.tsx'

export function AboutPage() {
  const { t } = useTranslation()
  const name = useSiteName()
  const page = useQuery(sitePageQuery('about'))
  usePageTitle(t('shell.about'))
  const text = page.data ?? ''
  return (
    <article className="tg-prose-page">
      <h1 className={text === '' ? '' : 'tg-visually-hidden'}>{t('about.aboutSite', { name })}</h1>
      {text !== '' && <RichText text={text} title={t('shell.about')} />}
      {!page.isPending && <SiteDescription name={name} isAlone={text === ''} />}
    </article>
  )
}

function SiteDescription({ name, isAlone }: { name: string; isAlone: boolean }) {
  const { t } = useTranslation()
  const status = useStatus()
  return (
    <section className={isAlone ? '' : 'tg-about-below'} aria-label={t('about.details')}>
      <p className={isAlone ? 'tg-hero-lead' : ''}>
        {name === DEFAULT_SITE_NAME ? t('about.plainLead') : t('about.lead', { name })}
      </p>
      <p className="tg-muted">{t('about.ledgerNote')}</p>
      <LabelledValues
        className="tg-about-facts"
        values={[
          [t('about.version'), status?.version],
          [t('about.started'), status && <Time at={status.start_time} style="stamp" />],
          [t('about.licence'), 'Apache-2.0'],
        ]}
      />
    </section>
  )
}
