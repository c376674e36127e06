import { readdirSync, readFileSync } from 'node:fs'

/** Returns the ids of `root` and of all processes that descend from `root` (Linux). */
export function treeOf(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = parentOf(Number(name))
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found: number[] = []
  const add = (pid: number): void => {
    found.push(pid)
    for (const child of children.get(pid) ?? []) add(child)
  }
  add(root)
  return found
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}

/** Kills `root` and all its descendants with SIGKILL. Returns the number of killed processes. */
export function killTree(root: number): number {
  // Suspended processes can't fork while the tree is read.
  signal(treeOf(root), 'SIGSTOP')
  const tree = treeOf(root)
  signal(tree, 'SIGKILL')
  return tree.length
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // The process has ended.
    }
  }
}
