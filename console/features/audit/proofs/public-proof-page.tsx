import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { Page, useSiteName } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { VerifierHint } from '../elements/checkpoint-status-and-verifier-hint.tsx'
import { LogStatusPanels } from './transparency-log-status.tsx'
import '../audit.css'
import './proofs.css'

/**
 * The public page that explains how to verify this site's receipts. It also shows the status of the
 * transparency log and offers the tools for the verification.
 */
export function PublicProofPage() {
  const { t } = useTranslation()
  const { data: log, isPending } = useQuery(apiQuery('GET /api/transparency-log/status'))
  return (
    <Page title={t('audit.proof.title')} lead={t('audit.proof.lead', { site: useSiteName() })}>
      <LogStatusPanels />
      {/* This panel appears only after the status above it has loaded. Otherwise, the panel
          would move. */}
      {!isPending && (
        <Panel title={t('audit.proof.meaning')}>
          <ol className="tg-proofs-steps">
            <li>{t('audit.proof.sealed')}</li>
            {log && (
              <li>{t(`audit.proof.${log.witnesses.length > 0 ? 'witnessed' : 'unwitnessed'}`)}</li>
            )}
            <li>{t('audit.proof.receipts')}</li>
            <li>{t('audit.receipt.limits')}</li>
          </ol>
          <VerifierHint isWitnessed={(log?.witnesses.length ?? 0) > 0} />
          <p className="tg-hint">
            {t('audit.proof.tiles')} <code>/transparency-log/checkpoint</code>,{' '}
            <code>/transparency-log/tile/&lt;L&gt;/&lt;N&gt;</code>
          </p>
        </Panel>
      )}
    </Page>
  )
}
