import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Hash } from '../elements/amounts-and-hashes.tsx'
import { cursorQuery } from '../elements/cursor-list.tsx'
import { ColumnTable } from '../elements/small-tables.tsx'
import { Finality, LogStatusPanels } from './transparency-log-status.tsx'

const CHECKPOINTS_PER_PAGE = 20

/**
 * Shows the status of the transparency log, which is a Merkle tree of all events. Also lists its
 * signed checkpoints, newest first.
 */
export function CheckpointsPanel() {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const query = useInfiniteQuery(
    cursorQuery(['audit', 'signed-checkpoints'], (cursor, signal) =>
      call('GET /api/audit/signed-checkpoints', {
        query: { cursor, limit: CHECKPOINTS_PER_PAGE },
        signal,
      }),
    ),
  )
  return (
    <div className="tg-proofs-stack">
      <LogStatusPanels isEditable />
      <Panel
        title={t('audit.log.checkpoints')}
        lead={t('audit.log.checkpointsLead')}
        actions={<Link to="/proof">{t('audit.proof.title')}</Link>}
      >
        <QueryView query={query} height={240}>
          {({ pages }) => (
            <ColumnTable
              label={t('audit.log.checkpoints')}
              rows={pages.flatMap(({ items }) => items)}
              rowKey={(checkpoint) => `${checkpoint.size} ${checkpoint.created_at}`}
              columns={[
                [t('audit.log.signed'), ({ created_at: at }) => stamp(at)],
                [{ end: t('audit.log.size') }, ({ size }) => number.format(size)],
                [t('audit.verify.root'), ({ root }) => <Hash value={root} />],
                [
                  t('audit.receipt.witnesses'),
                  ({ cosignatures }) =>
                    cosignatures.map(({ witness }) => witness).join(', ') || '–',
                ],
                [t('shared.status'), (checkpoint) => <Finality checkpoint={checkpoint} />],
              ]}
            />
          )}
        </QueryView>
        {query.hasNextPage && (
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t('audit.loadOlder')}
          </Button>
        )}
      </Panel>
    </div>
  )
}
