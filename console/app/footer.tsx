import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { RichText } from '#console/ui/rich/rich-text.tsx'
import { useFooterHtml } from './footer-html.ts'

const VARIANTS = ['powered1', 'powered2', 'powered3', 'powered4'] as const

/**
 * The operator's own footer, if there is one, and one of four ways to say what runs here: that
 * leads nowhere, for the product has no site of its own that it could name.
 */
export function Footer(): ReactElement {
  const { t } = useTranslation()
  const html = useFooterHtml()
  const [variant] = useState(() => VARIANTS[Math.floor(Math.random() * VARIANTS.length)])
  return (
    <footer className="tg-footer">
      {html === '' ? null : <RichText text={html} title={t('shell.footer')} isSmall />}
      <p>{t(`shell.${variant ?? 'powered1'}`, { name: 'Tallygate' })}</p>
    </footer>
  )
}
