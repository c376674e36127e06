import { useCommands } from './use-commands.ts'

/** What every list of things offers: another one, and the list read again. */
export function useListCommands(
  createTitle: string,
  create: () => void,
  refreshTitle: string,
  refresh: () => void,
): void {
  useCommands([
    { id: 'create', title: createTitle, section: 'page', icon: 'add', act: create },
    {
      id: 'refresh',
      title: refreshTitle,
      section: 'page',
      keys: 'r',
      icon: 'refresh',
      act: refresh,
    },
  ])
}
