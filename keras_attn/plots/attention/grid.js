/** Keys in a grid whose items are numbered row by row; they do not leave the grid. */
export function inGrid(rows, columns) {
  return (key, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const at = (r, c) =>
      Math.max(0, Math.min(rows - 1, r)) * columns + Math.max(0, Math.min(columns - 1, c));
    return {
      ArrowLeft: at(row, column - 1),
      ArrowRight: at(row, column + 1),
      ArrowUp: at(row - 1, column),
      ArrowDown: at(row + 1, column),
      Home: at(row, 0),
      End: at(row, columns - 1),
    }[key];
  };
}
