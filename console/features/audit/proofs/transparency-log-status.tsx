import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { CopyButton } from '#console/ui/elements/copy.tsx'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { LogStatus, SignedCheckpoint } from '#read-api/contract/transparency-log.ts'
import { Hash } from '../elements/amounts-and-hashes.tsx'
import { CheckpointStatus, checkpointStatusOf } from '../elements/checkpoint-status.tsx'
import { ColumnTable, Facts } from '../elements/data-table.tsx'
import { RefusalAlerts } from './witness-refusal-alerts.tsx'

const POLL_INTERVAL_MS = 10_000

/**
 * Shows the public facts about the transparency log (the Merkle tree of all events): its key, its
 * latest checkpoint and its witnesses, which are independent servers that sign checkpoints.
 */
export function LogStatusPanels({ isEditable = false }: { isEditable?: boolean }) {
  const query = useQuery({
    ...apiQuery('GET /api/transparency-log/status'),
    refetchInterval: POLL_INTERVAL_MS,
  })
  const { t } = useTranslation()
  return (
    <Panel title={t('audit.log.latest')} lead={t('audit.log.latestLead')}>
      <QueryView query={query} height={220}>
        {(status) => <Status status={status} isEditable={isEditable} />}
      </QueryView>
    </Panel>
  )
}

function Status({ status, isEditable }: { status: LogStatus; isEditable: boolean }) {
  const { t } = useTranslation()
  const { latest } = status
  return (
    <>
      {/* Refusals are shown even if the site has not signed a checkpoint yet. */}
      <RefusalAlerts refusals={status.refusals} isEditable={isEditable} />
      {latest === null ? (
        <p className="tg-muted">{t('audit.log.none')}</p>
      ) : (
        <SealedLog status={status} latest={latest} />
      )}
    </>
  )
}

function SealedLog({ status, latest }: { status: LogStatus; latest: SignedCheckpoint }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { witnesses } = status
  return (
    <>
      <Facts
        facts={[
          [t('audit.log.origin'), status.origin],
          [t('audit.log.size'), number.format(latest.size)],
          [t('audit.log.signed'), <Time key="signed" at={latest.created_at} />],
          [t('audit.verify.root'), <Hash key="root" value={latest.root} />],
          [t('audit.log.key'), status.key && <Key value={status.key} />],
          [t('audit.log.witnessKey'), status.witness_key && <Key value={status.witness_key} />],
          [
            t('audit.log.quorum'),
            witnesses.length > 0 &&
              t('audit.log.quorumText', { count: status.quorum, all: witnesses.length }),
          ],
          [t('shared.status'), <Finality key="final" checkpoint={latest} />],
        ]}
      />
      <figure className="tg-audit-raw">
        <figcaption>
          {t('audit.log.note')} <CopyButton text={latest.note} label={t('ui.copy')} />
        </figcaption>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling needs the keyboard. */}
        <pre tabIndex={0}>{latest.note}</pre>
      </figure>
      <h3 className="tg-proofs-heading">{t('audit.receipt.witnesses')}</h3>
      {witnesses.length === 0 ? (
        <p className="tg-muted">{t('audit.log.noWitnesses')}</p>
      ) : (
        <ColumnTable
          label={t('audit.receipt.witnesses')}
          rows={witnesses}
          rowKey={({ key }) => key}
          columns={[
            [t('shared.name'), ({ name }) => name],
            [t('audit.log.key'), ({ key }) => <Key value={key} />],
            [
              { end: t('audit.log.size') },
              ({ size }) => (size === null ? '–' : number.format(size)),
            ],
            [
              t('audit.log.signed'),
              ({ signed_at: at }) => (at === null ? t('audit.log.notYet') : stamp(at)),
            ],
          ]}
        />
      )}
    </>
  )
}

/**
 * Shows a key without its name prefix, because the prefix of all keys of a site is the same. The
 * button copies the whole key.
 */
const Key = ({ value }: { value: string }) => (
  <Hash value={value} shown={value.slice(value.indexOf('+') + 1)} />
)

export function Finality({ checkpoint }: { checkpoint: SignedCheckpoint }) {
  return <CheckpointStatus status={checkpointStatusOf(checkpoint)} />
}
