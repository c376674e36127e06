import { useTranslation } from 'react-i18next'

/** Says where to find the offline verifier of receipts and how to run it. */
export function VerifierHint() {
  const { t } = useTranslation()
  return (
    <p className="tg-audit-verifier">
      {t('audit.receipt.checkRun')}{' '}
      <a href="/transparency-log/verify.mjs" download>
        {t('audit.receipt.verifier')}
      </a>
      , <code>node verify.mjs --receipt FILE --key KEY</code>
    </p>
  )
}
