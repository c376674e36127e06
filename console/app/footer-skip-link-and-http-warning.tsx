import { useEffect, useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { Icon } from '#console/ui/elements/icons.tsx'
import { RichText } from '#console/ui/rich/rich-text.tsx'
import { useStatus } from '../api/status.ts'

const VARIANTS = ['powered1', 'powered2', 'powered3', 'powered4'] as const

/**
 * The footer with the operator's text, and with a line that names the software. The line is
 * selected at random from four.
 */
export function Footer() {
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

const KEY = 'footer_html'
const READS_MAX = 5
const POLL_INTERVAL_MS = 200

/**
 * Returns the HTML of the footer from the site's status. Until the status has loaded, returns the
 * HTML that was stored in this browser at the last visit. If no HTML is stored, the storage is read
 * up to five times, because another tab may store the HTML in the meantime.
 */
function useFooterHtml(): string {
  const fromStatus = useStatus()?.footer_html
  const [stored, setStored] = useState(() => localStorage.getItem(KEY) ?? '')
  useEffect(() => {
    if (fromStatus !== undefined || stored !== '') return
    let reads = 0
    const timer = setInterval(() => {
      if (document.hidden) return
      reads += 1
      setStored(localStorage.getItem(KEY) ?? '')
      if (reads >= READS_MAX) clearInterval(timer)
    }, POLL_INTERVAL_MS)
    return () => clearInterval(timer)
  }, [fromStatus, stored])
  return fromStatus ?? stored
}

export function SkipLink() {
  const { t } = useTranslation()
  return (
    <a className="tg-skip" href="#main">
      {t('shell.skip')}
    </a>
  )
}

export function PlainHttpWarning() {
  const { t } = useTranslation()
  if (window.isSecureContext) return null
  return (
    <p className="tg-plain-http" role="note">
      <Icon name="alert" />
      <span>{t('request.plainHttp')}</span>
    </p>
  )
}
