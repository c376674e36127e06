import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files of all projects by turns, the larger ones first. One project after the other, browsers
 * would fight for two cores first, and later cores would idle while servers wait for each other.
 */
export class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const places = new Map<TestSpecification, number>()
    for (const ofProject of Map.groupBy(sorted, ({ project }) => project.name).values()) {
      for (const [i, file] of ofProject.entries()) places.set(file, (i + 0.5) / ofProject.length)
    }
    return sorted.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
  }
}
