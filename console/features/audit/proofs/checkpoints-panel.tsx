import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Hash } from '../elements/amounts-and-hashes.tsx'
import { nextCursor } from '../elements/cursor-list.tsx'
import { DataTable } from '../elements/data-table.tsx'
import { Finality, LogStatusPanels } from './transparency-log-status.tsx'

const CHECKPOINTS_PER_PAGE = 20

/**
 * Shows the status of the transparency log, which is a Merkle tree of all events. Also lists its
 * signed checkpoints, newest first.
 */
export function CheckpointsPanel() {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const query = useInfiniteQuery({
    queryKey: ['audit', 'signed-checkpoints'],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/audit/signed-checkpoints', {
        query: { cursor: pageParam, limit: CHECKPOINTS_PER_PAGE },
        signal,
      }),
    getNextPageParam: (page) => nextCursor(page),
  })
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
            <DataTable
              label={t('audit.log.checkpoints')}
              heads={[
                t('audit.log.signed'),
                { end: t('audit.log.size') },
                t('audit.verify.root'),
                t('audit.receipt.witnesses'),
                t('shared.status'),
              ]}
              rows={pages
                .flatMap(({ items }) => items)
                .map((checkpoint) => ({
                  key: `${checkpoint.size} ${checkpoint.created_at}`,
                  cells: [
                    stamp(checkpoint.created_at),
                    number.format(checkpoint.size),
                    <Hash key="root" value={checkpoint.root} />,
                    checkpoint.cosignatures.map(({ witness }) => witness).join(', ') || '–',
                    <Finality key="final" checkpoint={checkpoint} />,
                  ],
                }))}
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
