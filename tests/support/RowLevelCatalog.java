// A catalog of tables in memory that take INSERT, UPDATE, DELETE and MERGE: every such statement reads a whole table and puts another in its place,
// so all that decides what a row becomes is Spark's. Compiled by tests/spark/rowlevel.py with the Janino that Spark brings along, whose Java has
// neither lambdas nor bridge methods for generic ones: hence the raw types.
package rowlevel;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.*;
import org.apache.spark.sql.connector.read.*;
import org.apache.spark.sql.connector.write.*;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

public class RowLevelCatalog implements TableCatalog, SupportsNamespaces {
  private String name;
  private final Map tables = new HashMap();
  private final Map namespaces = new HashMap();

  public void initialize(String name, CaseInsensitiveStringMap options) {
    this.name = name;
  }

  public String name() {
    return name;
  }

  public Identifier[] listTables(String[] namespace) {
    return (Identifier[]) tables.keySet().toArray(new Identifier[0]);
  }

  public org.apache.spark.sql.connector.catalog.Table loadTable(Identifier identifier) throws NoSuchTableException {
    Object found = tables.get(identifier);
    if (found == null) {
      throw new NoSuchTableException(identifier);
    }
    return (org.apache.spark.sql.connector.catalog.Table) found;
  }

  public org.apache.spark.sql.connector.catalog.Table createTable(Identifier identifier, TableInfo info) {
    MemoryTable made = new MemoryTable(identifier.toString(), info.columns());
    tables.put(identifier, made);
    return made;
  }

  public org.apache.spark.sql.connector.catalog.Table alterTable(Identifier identifier, TableChange[] changes) {
    throw new UnsupportedOperationException();
  }

  public boolean dropTable(Identifier identifier) {
    return tables.remove(identifier) != null;
  }

  public void renameTable(Identifier from, Identifier to) {
    tables.put(to, tables.remove(from));
  }

  public String[][] listNamespaces() {
    return new String[0][];
  }

  public String[][] listNamespaces(String[] namespace) {
    return new String[0][];
  }

  public boolean namespaceExists(String[] namespace) {
    return namespaces.containsKey(String.join(".", namespace));
  }

  public Map loadNamespaceMetadata(String[] namespace) {
    return new HashMap();
  }

  public void createNamespace(String[] namespace, Map metadata) {
    namespaces.put(String.join(".", namespace), metadata);
  }

  public void alterNamespace(String[] namespace, NamespaceChange[] changes) {
    throw new UnsupportedOperationException();
  }

  public boolean dropNamespace(String[] namespace, boolean cascade) {
    return namespaces.remove(String.join(".", namespace)) != null;
  }
}

class MemoryTable implements SupportsRead, SupportsWrite, SupportsRowLevelOperations {
  private final String name;
  private final Column[] columns;
  InternalRow[] rows = new InternalRow[0];

  MemoryTable(String name, Column[] columns) {
    this.name = name;
    this.columns = columns;
  }

  public String name() {
    return name;
  }

  public Column[] columns() {
    return columns;
  }

  public Set capabilities() {
    return EnumSet.of(TableCapability.BATCH_READ, TableCapability.BATCH_WRITE, TableCapability.TRUNCATE);
  }

  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return new MemoryScan(this);
  }

  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return new MemoryWrite(this, false);
  }

  public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
    return new Replacement(this, info.command());
  }
}

class Replacement implements RowLevelOperationBuilder, RowLevelOperation {
  private final MemoryTable table;
  private final RowLevelOperation.Command command;

  Replacement(MemoryTable table, RowLevelOperation.Command command) {
    this.table = table;
    this.command = command;
  }

  public RowLevelOperation build() {
    return this;
  }

  public RowLevelOperation.Command command() {
    return command;
  }

  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return new MemoryScan(table);
  }

  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return new MemoryWrite(table, true);
  }
}

class MemoryScan implements ScanBuilder, Scan, Batch {
  private final MemoryTable table;

  MemoryScan(MemoryTable table) {
    this.table = table;
  }

  public Scan build() {
    return this;
  }

  public StructType readSchema() {
    return CatalogV2Util.v2ColumnsToStructType(table.columns());
  }

  public Batch toBatch() {
    return this;
  }

  public InputPartition[] planInputPartitions() {
    return new InputPartition[] {new MemoryPartition(table.rows)};
  }

  public PartitionReaderFactory createReaderFactory() {
    return new MemoryReaderFactory();
  }
}

class MemoryPartition implements InputPartition {
  final InternalRow[] rows;

  MemoryPartition(InternalRow[] rows) {
    this.rows = rows;
  }
}

class MemoryReaderFactory implements PartitionReaderFactory {
  public PartitionReader createReader(InputPartition partition) {
    return new MemoryReader(((MemoryPartition) partition).rows);
  }
}

class MemoryReader implements PartitionReader {
  private final InternalRow[] rows;
  private int place = -1;

  MemoryReader(InternalRow[] rows) {
    this.rows = rows;
  }

  public boolean next() {
    place++;
    return place < rows.length;
  }

  public Object get() {
    return rows[place];
  }

  public void close() {}
}

class MemoryWrite implements SupportsTruncate, Write, BatchWrite {
  private final MemoryTable table;
  private boolean whole;

  MemoryWrite(MemoryTable table, boolean whole) {
    this.table = table;
    this.whole = whole;
  }

  public WriteBuilder truncate() {
    whole = true;
    return this;
  }

  public Write build() {
    return this;
  }

  public BatchWrite toBatch() {
    return this;
  }

  public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
    return new MemoryWriterFactory();
  }

  public void commit(WriterCommitMessage[] messages) {
    List all = new ArrayList();
    if (!whole) {
      all.addAll(java.util.Arrays.asList(table.rows));
    }
    for (int number = 0; number < messages.length; number++) {
      all.addAll(rowsOf(messages[number]));
    }
    table.rows = (InternalRow[]) all.toArray(new InternalRow[0]);
  }

  /** The rows of a message, whose class the task's class loader has loaded a second time. */
  private static List rowsOf(WriterCommitMessage message) {
    try {
      java.lang.reflect.Field rows = message.getClass().getDeclaredField("rows");
      rows.setAccessible(true);
      return (List) rows.get(message);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }

  public void abort(WriterCommitMessage[] messages) {}
}

class MemoryWriterFactory implements DataWriterFactory {
  public DataWriter createWriter(int partition, long task) {
    return new MemoryWriter();
  }
}

class MemoryWriter implements DataWriter {
  private final ArrayList rows = new ArrayList();

  public void write(Object row) {
    rows.add(((InternalRow) row).copy());
  }

  public WriterCommitMessage commit() {
    return new Written(rows);
  }

  public void abort() {}

  public void close() {}
}

class Written implements WriterCommitMessage {
  final ArrayList rows;

  Written(ArrayList rows) {
    this.rows = rows;
  }
}
