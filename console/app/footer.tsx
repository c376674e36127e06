import { type ReactElement, useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { RichText } from '#console/ui/rich/rich-text.tsx'
import { useFooterHtml } from './footer-html.ts'

const VARIANTS = ['powered1', 'powered2', 'powered3', 'powered4'] as const

/** The operator's own footer, if there is one, and one of four ways to say what runs here. */
export function Footer(): ReactElement {
  const { t } = useTranslation()
  const html = useFooterHtml()
  const [variant] = useState(() => VARIANTS[Math.floor(Math.random() * VARIANTS.length)])
  return (
    <footer className="tg-footer">
      {html === '' ? null : <RichText text={html} title={t('shell.footer')} isSmall />}
      <p>
        <Trans
          i18nKey={`shell.${variant ?? 'powered1'}`}
          values={{ name: 'Tallygate' }}
          components={{ site: <Link to="/about" /> }}
        />
      </p>
    </footer>
  )
}
