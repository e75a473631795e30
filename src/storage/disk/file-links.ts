/** Which links lead to which files: when the file changes, so does what clients see at each link. */
export class FileLinks {
  readonly #targets = new Map<string, string>();
  readonly #links = new Map<string, Set<string>>();

  /** Takes note of where the file at a path really lies, which is at `location` unless a link leads to it. */
  note(path: string, location: string, real: string | undefined): void {
    const before = this.#targets.get(path);
    if (before === real || (before === undefined && real === location)) return;
    if (before !== undefined) this.#remove(path, before);
    if (real === undefined || real === location) return;
    this.#targets.set(path, real);
    const links = this.#links.get(real) ?? new Set();
    this.#links.set(real, links.add(path));
  }

  targetOf(path: string): string | undefined {
    return this.#targets.get(path);
  }

  to(real: string): Iterable<string> {
    return this.#links.get(real) ?? [];
  }

  #remove(path: string, real: string): void {
    this.#targets.delete(path);
    const links = this.#links.get(real);
    links?.delete(path);
    if (links?.size === 0) this.#links.delete(real);
  }
}
